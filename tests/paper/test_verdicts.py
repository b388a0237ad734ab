import pytest

from leocod.evaluation.intervals import Interval
from leocod.paper.verdicts import find_worst, judge_alike, judge_better, judge_figure, judge_no_better


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.1, 3.0, ("holds", "does not hold", "does not hold")),
        # Better, but perhaps by less than the margin: what is claimed is not refuted.
        (0.1, 3.0, ("holds", "undecided", "undecided")),
        (-0.1, 3.0, ("undecided", "undecided", "undecided")),
        (-3.0, -0.1, ("does not hold", "holds", "undecided")),
        (-3.0, -1.0, ("does not hold", "holds", "does not hold")),
        (-0.9, 0.9, ("undecided", "holds", "holds")),
        # Better, but by less than the margin.
        (0.1, 0.9, ("holds", "holds", "holds")),
        (-3.0, 0.9, ("undecided", "holds", "undecided")),
        # An end at 0 is not above it, and one at the margin not below it.
        (0.0, 1.0, ("undecided", "undecided", "undecided")),
        (1.0, 2.0, ("holds", "does not hold", "does not hold")),
    ],
)
def test_an_interval_is_judged_by_0_and_by_the_margin(low: float, high: float, words: tuple[str, str, str]) -> None:
    interval = Interval(low, high)

    assert (judge_better(interval), judge_no_better(interval, 1.0), judge_alike(interval, 1.0)) == words


@pytest.mark.parametrize(
    ("difference", "better", "no_better"),
    [
        (1.0, "holds", "does not hold"),
        (0.9, "undecided", "holds"),
        (-0.9, "undecided", "holds"),
        (-1.0, "does not hold", "holds"),
    ],
)
def test_a_figure_of_the_paper_is_judged_by_its_sign_or_by_the_margin(
    difference: float, better: str, no_better: str
) -> None:
    assert judge_figure(difference, judge_better) == better
    assert judge_figure(difference, lambda interval: judge_no_better(interval, 1.0)) == no_better


def test_what_was_not_run_is_worse_than_undecided() -> None:
    assert find_worst(["holds", "undecided", "not run"]) == "not run"
    assert find_worst(["holds", "undecided", "holds"]) == "undecided"
