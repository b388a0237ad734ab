from dataclasses import replace

import pytest

from leocod.paper.claim import Claim
from leocod.paper.display import (
    _show_bound,
    build_lines,
    explain_claims,
    explain_intervals,
    explain_verdicts,
    list_differences,
    stand_under_their_rows,
)
from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.record import RunRecord
from leocod.paper.table import Table, load_table


def test_a_line_has_mean_spread_and_the_difference_to_its_base(outcome: Outcome) -> None:
    bare, whole = build_lines(outcome)

    assert [str(figure) for figure in bare.ours] == ["30.5 ± 0.7", "20.0 ± 0.0", "1.0 ± 0.0"]
    assert [str(figure) for figure in whole.ours] == [
        "33.5 ± 0.7 (+3.0 [+3.0, +3.0])",
        "19.5 ± 0.0 (−0.5 [−0.5, −0.5])",
        "−1.0 ± 0.0 (−2.0 [−2.0, −2.0])",
    ]


def test_a_single_run_has_no_spread(outcome: Outcome) -> None:
    single = {key: replace(row, runs=dict(list(row.runs.items())[:1])) for key, row in outcome.rows.items()}

    assert [str(figure) for figure in build_lines(Outcome(outcome.table, single))[0].ours] == ["30.0", "20.0", "1.0"]


def test_better_is_told_from_worse_in_either_direction(outcome: Outcome) -> None:
    assert [figure.verdict for figure in build_lines(outcome)[1].ours] == ["better", "worse", "better"]


def test_no_difference_is_neither_better_nor_worse(outcome: Outcome) -> None:
    same = {"bare": outcome.rows["bare"], "whole": replace(outcome.rows["bare"], row=outcome.table.rows[1])}

    figures = build_lines(Outcome(outcome.table, same))[1].ours

    assert [(figure.change, figure.verdict) for figure in figures] == [("(+0.0 [+0.0, +0.0])", "")] * 3


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
    assert amounts == [
        "+3.0 [+3.0, +3.0] (+3.0, +3.0)",
        "−0.5 [−0.5, −0.5] (−0.5, −0.5)",
        "+2.0 [+2.0, +2.0] (+2.0, +2.0)",
    ]
    # Single runs, which differ by 1 point each: 1.96 * sqrt(2) to both sides.
    assert fewer == ["+13.0 [+10.2, +15.8]", "–", "–"]


def test_a_claim_names_its_source_and_the_verdict_on_the_papers_own_figures(outcome: Outcome) -> None:
    [claim] = explain_claims(outcome)

    assert (claim.verdict.word, claim.source) == ("holds", "Somewhere. Its own figures: OAK undecided.")
    assert claim.comparisons == [("whole over bare", [("FAP +3.0 [+3.0, +3.0] (+3.0, +3.0)", "holds")])]


@pytest.mark.parametrize(("seeds", "is_told"), [(3, True), (2, False)])
def test_a_mean_over_pairs_has_its_interval_over_seeds_beside_it(outcome: Outcome, seeds: int, is_told: bool) -> None:
    claim = {"text": "It helps on average", "metrics": ["fap"], "on_average": [["whole", "bare"]]}
    table = outcome.table.model_copy(update={"claims": (Claim.model_validate(claim),)})

    def give(key: str, gains: dict[str, float]) -> RowRuns:
        row, by_class = outcome.rows[key], {"fap": gains}
        scores = {(seed, None): {"fap": sum(gains.values()) / len(gains)} for seed in range(seeds)}
        records = {place: RunRecord(run=f"{key}{place}", seed=0, scores={}, by_class=by_class) for place in scores}
        return replace(row, runs=scores, records=records)

    rows = {"bare": give("bare", {"mug": 0.0, "book": 0.0}), "whole": give("whole", {"mug": 4.0, "book": 0.0})}
    averaged = Outcome(table, rows)
    [judged] = explain_claims(averaged)

    [(_, [(text, word)])] = judged.comparisons
    by_run = ", ".join(["+2.0"] * seeds)
    assert text == f"FAP +2.0 [−23.4, +27.4] ({by_run})" + ", over seeds alone [+2.0, +2.0]" * is_told
    assert word == "undecided"
    assert ("over seeds alone" in explain_verdicts(averaged)) == is_told


def test_without_figures_of_the_paper_there_is_no_word_about_it(own_table: Table) -> None:
    main = load_table("main")

    assert "The paper's own figures" in explain_verdicts(Outcome.from_paper(main, "oak"))
    assert "The paper's own figures" not in explain_verdicts(Outcome.from_paper(own_table, "oak"))


def test_what_may_be_0_has_no_colour(outcome: Outcome) -> None:
    """Given +9 and -1, when nobody knows more, then the mean of 4 may be chance."""
    bare, whole = outcome.rows["bare"], outcome.rows["whole"]
    apart = replace(whole, runs={(0, None): {"fap": 39.0}, (1, None): {"fap": 30.0}})

    [figure, *_] = build_lines(Outcome(outcome.table, {"bare": bare, "whole": apart}))[1].ours

    assert (figure.change, figure.verdict) == ("(+4.0 [−59.5, +67.5])", "")


def test_the_margin_is_named_where_a_claim_has_one(own_table: Table) -> None:
    claim = {"text": "t", "metrics": ["fap"], "no_better": [["whole", "bare"]], "margin": 0.5}
    with_margin = own_table.model_copy(update={"claims": (Claim.model_validate(claim),)})

    assert "within the margin (0.5 points)" in explain_verdicts(Outcome.from_paper(with_margin, "oak"))
    assert "margin" not in explain_verdicts(Outcome.from_paper(own_table, "oak"))


def test_it_is_said_what_the_intervals_rest_on_and_what_chance_does(outcome: Outcome) -> None:
    record = RunRecord(run="a", seed=0, scores={}, by_class={"fap": {"mug": 1.0}})
    with_classes = replace(outcome.rows["bare"], records={(0, None): record})
    (place, scores), *_ = outcome.rows["bare"].runs.items()
    # As many as there are count, and not as many as are yet to come.
    single = replace(outcome.rows["bare"], runs={place: scores})

    seeds_only = explain_intervals(outcome)
    over_both = explain_intervals(Outcome(outcome.table, {**outcome.rows, "bare": with_classes}))
    alone = explain_intervals(Outcome(outcome.table, {"bare": single}))

    assert "over seeds only, as these runs have no figures by class on record" in seeds_only
    assert (
        "Chance alone moves a single run by about 1 point, and the difference of two by about 1.4 points." in seeds_only
    )
    assert "over seeds and classes." in over_both
    assert "one run in common" in alone
    assert "one run in common" not in seeds_only


def test_a_bound_near_0_shows_its_side() -> None:
    shown = [_show_bound(value) for value in (0.0, 0.04, -0.04, 0.004, -0.004, 0.06, -2.14)]

    assert shown == ["+0.0", "+0.04", "−0.04", "+0.00", "−0.00", "+0.1", "−2.1"]


def test_a_row_that_stands_elsewhere_names_the_row_that_it_is_compared_with() -> None:
    rows = [{"key": "a"}, {"key": "b", "over": "a"}, {"key": "c", "name": "twin", "labels": 4}]
    rows += [{"key": "d", "name": "twin", "labels": 1}, {"key": "e", "over": "c"}, {"key": "f", "over": "b"}]
    table = Table.model_validate({"name": "n", "title": "t", "rows": rows})
    under = Table.model_validate({"name": "n", "title": "t", "rows": rows[:2]})

    lines = build_lines(Outcome(table, {row.key: RowRuns(row, {}, 1) for row in table.rows}))

    assert stand_under_their_rows(under)
    assert not stand_under_their_rows(table)
    assert [line.over for line in lines] == ["", "a", "", "", "twin, 25 %", "b"]


def test_a_figure_that_rests_on_fewer_runs_than_its_row_says_so(outcome: Outcome) -> None:
    row = outcome.rows["bare"]
    places = list(row.runs)
    assert len(places) > 1
    some = {place: scores if place == places[0] else {"fap": 1.0} for place, scores in row.runs.items()}

    _, cap, _ = build_lines(Outcome(outcome.table, {**outcome.rows, "bare": replace(row, runs=some)}))[0].ours

    assert cap.text.endswith("(1 run)")
