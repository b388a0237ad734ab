"""CAP: how good the learner is on the way."""

from __future__ import annotations

from typing import ClassVar

from leocod.evaluation.continual import cap
from leocod.evaluation.history import History
from leocod.evaluation.metrics.base import Direction, Metric, or_none


class CAP(Metric):
    """Continual average precision: mean over evaluations of the mean over classes of AP.

    Classes without a test box are left out. A class counts from the first evaluation on, seen or not.
    """

    name: ClassVar[str] = "cap"
    label: ClassVar[str] = "CAP"
    title: ClassVar[str] = "mean {ap} over all evaluations"
    direction: ClassVar[Direction] = "higher"
    undefined: ClassVar[str] = "There was no evaluation, or no class has a test box."

    def compute(self, history: History) -> float | None:
        return or_none(cap(history.table))
