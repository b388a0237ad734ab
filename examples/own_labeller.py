"""A labeller of your own: ask a person about the frames in which the detector is least sure.

PYTHONPATH=examples leocod run --set labels.name=own_labeller:LeastSure --labels 2
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from pydantic import Field

from leocod import Detections, Labeller, LabellerOptions, LabelRequest


class LeastSureOptions(LabellerOptions):
    """Options of asking where the detector is least sure."""

    sure_above: float = Field(0.7, gt=0, le=1)
    """A detection with a higher score is not doubted."""


class LeastSure(Labeller):
    """Asks for the frames whose detections have the most doubtful scores: those near one half."""

    Options: ClassVar[type[LabellerOptions]] = LeastSureOptions
    options: LeastSureOptions

    def choose(self, request: LabelRequest) -> Iterable[int]:
        frames = [frame for frame in request.frames if frame.id in request.available]
        doubts = [self._doubt(found) for found in request.predict(frames)]
        order = np.argsort(doubts, kind="stable")[::-1]
        return [frames[number].id for number in order[: self.options.per_step]]

    def _doubt(self, found: Detections) -> float:
        scores = found.scores[found.scores <= self.options.sure_above]
        return float(np.minimum(scores, 1 - scores).sum())
