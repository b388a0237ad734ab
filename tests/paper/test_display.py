from dataclasses import replace

from leocod.paper.display import build_lines, explain_claims, explain_verdicts, list_differences
from leocod.paper.outcome import Outcome
from leocod.paper.table import Table, load_table


def test_a_line_has_mean_spread_and_the_difference_to_its_base(outcome: Outcome) -> None:
    bare, whole = build_lines(outcome)

    assert [str(figure) for figure in bare.ours] == ["30.5 ± 0.7", "20.0 ± 0.0", "1.0 ± 0.0"]
    assert [str(figure) for figure in whole.ours] == ["33.5 ± 0.7 (+3.0)", "19.5 ± 0.0 (−0.5)", "−1.0 ± 0.0 (−2.0)"]


def test_a_single_run_has_no_spread(outcome: Outcome) -> None:
    single = {key: replace(row, runs=dict(list(row.runs.items())[:1])) for key, row in outcome.rows.items()}

    assert [str(figure) for figure in build_lines(Outcome(outcome.table, single))[0].ours] == ["30.0", "20.0", "1.0"]


def test_better_is_told_from_worse_in_either_direction(outcome: Outcome) -> None:
    assert [figure.verdict for figure in build_lines(outcome)[1].ours] == ["better", "worse", "better"]


def test_no_difference_is_neither_better_nor_worse(outcome: Outcome) -> None:
    same = {"bare": outcome.rows["bare"], "whole": replace(outcome.rows["bare"], row=outcome.table.rows[1])}

    figures = build_lines(Outcome(outcome.table, same))[1].ours

    assert [(figure.change, figure.verdict) for figure in figures] == [("(+0.0)", "")] * 3


def test_the_papers_figures_have_differences_of_their_own(outcome: Outcome) -> None:
    paper = build_lines(outcome)[1].paper["oak"]

    assert [str(figure) for figure in paper] == ["9.00 (+0.62)", "7.50 (−0.22)", "−1.00 (−1.03)"]


def test_differences_are_listed_on_average_and_run_by_run(outcome: Outcome) -> None:
    table = outcome.table.model_copy(update={"comparisons": (("whole", "bare"),)})
    few = replace(outcome.rows["bare"], runs={(0, None): {"fap": 20.0}})

    [(first, second, amounts)] = list_differences(Outcome(table, outcome.rows))
    [(*_, fewer)] = list_differences(Outcome(table, {**outcome.rows, "bare": few}))

    assert (first, second) == ("whole", "bare")
    # Positive is better: less is forgotten.
    assert amounts == ["+3.0 (+3.0, +3.0)", "−0.5 (−0.5, −0.5)", "+2.0 (+2.0, +2.0)"]
    assert fewer == ["+13.0", "–", "–"]


def test_a_claim_names_its_source_and_the_verdict_on_the_papers_own_figures(outcome: Outcome) -> None:
    [claim] = explain_claims(outcome)

    assert (claim.verdict.word, claim.source) == ("holds", "Somewhere. Its own figures: OAK within the spread.")
    assert claim.comparisons == [("whole over bare", [("FAP +3.0 (+3.0, +3.0)", "holds")])]


def test_without_figures_of_the_paper_there_is_no_word_about_it(own_table: Table) -> None:
    assert "the paper's own figures" in explain_verdicts(load_table("main"))
    assert "the paper's own figures" not in explain_verdicts(own_table)
