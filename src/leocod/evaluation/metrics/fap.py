"""FAP: how good the learner is in the end."""

from __future__ import annotations

from typing import ClassVar

from leocod.evaluation.continual import fap
from leocod.evaluation.history import History, Measurement
from leocod.evaluation.metrics.base import Direction, Metric, or_none


class FAP(Metric):
    """Final average precision: mean over classes of AP at the last evaluation.

    Classes without a test box are left out. A class that was never trained on counts as what it scores.
    """

    name: ClassVar[str] = "fap"
    label: ClassVar[str] = "FAP"
    title: ClassVar[str] = "mean {ap} at the end"
    direction: ClassVar[Direction] = "higher"
    needs: ClassVar[frozenset[Measurement]] = frozenset({"last evaluation"})
    undefined: ClassVar[str] = "There was no evaluation, or no class has a test box."

    def compute(self, history: History) -> float | None:
        return or_none(fap(history.table))
