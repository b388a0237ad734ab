"""Prequential AP: how good the learner is at what comes next."""

from __future__ import annotations

from typing import ClassVar

from leocod.evaluation.continual import mean_of_known
from leocod.evaluation.history import History, Measurement
from leocod.evaluation.metrics.base import Direction, Metric, or_none


class Prequential(Metric):
    """Test-then-train: mean over classes of AP in the training frames, each detected before its step is learnt.

    All frames of the stream whose truth is known are one test set, and the detections in a frame are those of the
    learner just before the step that brought it. Scores of all steps are put in one order. Classes that were never
    there are left out. Needs `evaluate.prequential: true`. Where frames come more than once, as in offline training,
    the learner may have learnt a frame before: there is no such figure.
    """

    name: ClassVar[str] = "prequential"
    label: ClassVar[str] = "Prequential"
    title: ClassVar[str] = "mean {ap} in training frames before they are learnt"
    direction: ClassVar[Direction] = "higher"
    needs: ClassVar[frozenset[Measurement]] = frozenset({"prequential"})
    undefined: ClassVar[str] = "The truth of no training frame is known, or frames came more than once."

    def compute(self, history: History) -> float | None:
        if not history.single_pass or history.prequential is None:
            return None
        return or_none(mean_of_known(history.prequential))
