from collections.abc import Mapping
from typing import Any

import pytest

from leocod.paper.outcome import Outcome, RowRuns, spread
from leocod.paper.plan import Plan
from leocod.paper.table import Row, Table


def outcome(claim: Mapping[str, Any], **fap: list[float]) -> Outcome:
    """Rows by their FAP, seed by seed; forgetting is the same number."""
    about = {"text": "t", "metrics": ["fap"], **claim}
    rows = [{"key": key, "name": key} for key in fap]
    whole = {"name": "n", "title": "t", "rows": rows}
    table = Table.model_validate({**whole, "claims": [about]})
    runs = {}
    for key, values in fap.items():
        scores = {(seed, None): {"fap": value, "forgetting": value} for seed, value in enumerate(values)}
        runs[key] = RowRuns(table.row(key), scores, 3)
    return Outcome(table, runs)


BETTER = {"better": [["a", "b"]]}


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ([12.0, 13.0, 14.0], [10.0, 11.0, 12.5], "holds"),
        ([10.0, 11.0, 12.0], [12.0, 13.5, 14.0], "does not hold"),
        # Two for, one against: the mean is above 0, but not above the spread.
        ([12.0, 13.0, 9.0], [10.0, 11.0, 12.0], "within the spread"),
        ([], [10.0], "not run"),
        ([12.0], [10.0], "holds"),
        ([10.9], [10.0], "within the spread"),
        ([8.0], [10.0], "does not hold"),
        # However alike they are: what chance does to one run it does to the mean of two.
        ([10.5, 11.4], [10.0, 11.0], "within the spread"),
    ],
)
def test_a_row_is_better_when_the_difference_is_larger_than_its_spread(
    first: list[float], second: list[float], word: str
) -> None:
    [verdict] = outcome(BETTER, a=first, b=second).judge_claims()

    assert verdict.word == word


def test_differences_are_taken_run_by_run() -> None:
    """Seeds that are far apart are no noise where both rows move with them."""
    [verdict] = outcome(BETTER, a=[11.0, 51.0, 91.2], b=[10.0, 50.0, 90.0]).judge_claims()

    assert verdict.word == "holds"
    assert verdict.comparisons[0].differences == pytest.approx((1.0, 1.0, 1.2))


def test_only_runs_that_both_rows_have_are_compared() -> None:
    [verdict] = outcome(BETTER, a=[20.0, 0.0], b=[10.0]).judge_claims()

    assert verdict.comparisons[0].differences == (10.0,)


def test_less_forgetting_is_better() -> None:
    [verdict] = outcome({**BETTER, "metrics": ["forgetting"]}, a=[-3.0], b=[2.0]).judge_claims()

    assert verdict.word == "holds"
    assert verdict.comparisons[0].mean == 5.0


def test_a_gain_is_compared_with_another_gain() -> None:
    claim = {"gains": [["a", "b", "c", "d"]]}

    [more] = outcome(claim, a=[15.0], b=[10.0], c=[22.0], d=[20.0]).judge_claims()
    [less] = outcome(claim, a=[12.0], b=[10.0], c=[25.0], d=[20.0]).judge_claims()

    assert (more.word, more.comparisons[0].mean) == ("holds", 3.0)
    assert (less.word, less.comparisons[0].mean) == ("does not hold", -3.0)


def test_a_tie_is_no_better() -> None:
    claim = {"no_better": [["a", "b"]]}

    words = [outcome(claim, a=[a], b=[10.0]).judge_claims()[0].word for a in (8.0, 10.2, 13.0)]

    assert words == ["holds", "holds", "does not hold"]
    assert outcome(claim, a=[], b=[10.0]).judge_claims()[0].word == "not run"


def test_choices_of_labelled_frames_are_compared_within_their_seed() -> None:
    row = Row(key="a", name="a", selections=2)
    runs = {(seed, choice): {"fap": 50.0 * seed + choice} for seed in (0, 1) for choice in (0, 1)}

    assert RowRuns(row, runs, 4).spread("fap") == pytest.approx(0.5**0.5)


def test_the_papers_own_figures_get_a_verdict_too(table: Table) -> None:
    [verdict] = Outcome.from_paper(table, "oak").judge_claims()

    assert verdict.word == "within the spread"
    assert verdict.comparisons[0].differences == pytest.approx((0.62,))
    assert Outcome.from_paper(table, "egoobjects").judge_claims()[0].word == "not run"


def test_rows_are_alike_when_chance_explains_their_difference() -> None:
    [alike] = outcome({"alike": [["a", "b"]]}, a=[10.0, 12.0], b=[11.0, 11.5]).judge_claims()
    [apart] = outcome({"alike": [["a", "b"]]}, a=[10.0, 10.0], b=[15.0, 15.1]).judge_claims()

    assert (alike.word, apart.word) == ("holds", "does not hold")


def test_a_row_is_steady_when_its_runs_differ_little() -> None:
    claim = {"steady": [["a"]], "at_most": 1.2}

    words = [outcome(claim, a=values).judge_claims()[0].word for values in ([10.0, 11.0], [10.0, 15.0], [10.0])]

    assert words == ["holds", "does not hold", "not run"]


def test_a_claim_is_as_good_as_its_worst_comparison() -> None:
    claim = {"better": [["a", "b"], ["a", "c"]]}

    words = [outcome(claim, a=[12.0], b=[10.0], c=[c]).judge_claims()[0].word for c in (10.0, 11.9, 14.0)]

    assert words == ["holds", "within the spread", "does not hold"]


def test_the_spread_is_the_standard_deviation_of_a_sample() -> None:
    assert spread([[1.0, 3.0]]) == pytest.approx(2**0.5)
    assert spread([[1.0]]) is None
    assert spread([]) is None


def test_the_spread_of_several_groups_is_pooled() -> None:
    # Squares of 2 and of 32, with 1 and 2 degrees of freedom.
    assert spread([[1.0, 3.0], [10.0, 14.0, 18.0], [99.0]]) == pytest.approx(((2 + 32) / 3) ** 0.5)


def test_it_is_read_from_the_finished_cells(plan: Plan, table: Table) -> None:
    before = Outcome.read(plan, table)
    plan.cells_of(table, table.row("whole"))[1].run(threads=1)
    after = Outcome.read(plan, table)

    assert before.rows["whole"].runs == {}
    assert list(after.rows["whole"].runs) == [(1, None)]
    assert after.rows["whole"].expected == 2
    assert not after.complete
