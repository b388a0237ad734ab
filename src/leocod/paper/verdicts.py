"""What an interval says about a comparison, and what its comparisons say about a claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from leocod.evaluation.intervals import Interval

Word = Literal["holds", "does not hold", "undecided", "cannot be compared", "not run"]

Judge = Callable[[Interval], Word]
"""The word for the interval of how much better something is."""

TIE = 1.0
"""Points. A smaller difference between two of the paper's own figures, which have no interval, decides nothing."""


def judge_better(interval: Interval) -> Word:
    """Whether something is better, by the interval of how much better it is."""
    if interval.is_above:
        return "holds"
    return "does not hold" if interval.is_below else "undecided"


def judge_no_better(interval: Interval, margin: float) -> Word:
    """Whether something is better by less than the margin: non-inferiority of the other."""
    if interval.high < margin:
        return "holds"
    return "does not hold" if interval.low >= margin else "undecided"


def judge_alike(interval: Interval, margin: float) -> Word:
    """Whether something is neither better nor worse by the margin: equivalence."""
    if -margin < interval.low and interval.high < margin:
        return "holds"
    return "does not hold" if interval.low >= margin or interval.high <= -margin else "undecided"


def judge_figure(difference: float, judge: Judge) -> Word:
    """The word on a difference between the paper's own figures: by its sign, or by the margin where there is one."""
    if judge is judge_better and abs(difference) < TIE:
        return "undecided"
    return judge(Interval(difference, difference))


def find_worst(words: Sequence[Word]) -> Word:
    """A claim is as good as the worst of its comparisons."""
    order: tuple[Word, ...] = ("does not hold", "not run", "cannot be compared", "undecided", "holds")
    return min(words, key=order.index)
