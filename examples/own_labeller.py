"""A labeller of your own: ask a person about the frames in which the detector is least sure.

PYTHONPATH=examples leocod run --set labels.name=own_labeller:LeastSure --labels 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from leocod import Frame, LabellerOptions, LearnerView, ScoringLabeller


class LeastSureOptions(LabellerOptions):
    """Options of asking where the detector is least sure."""

    sure_above: float = Field(0.7, gt=0, le=1)
    """A detection with a higher score is not doubted."""


class LeastSure(ScoringLabeller):
    """Asks for the frames whose detections have the most doubtful scores: those near one half."""

    Options: ClassVar[type[LabellerOptions]] = LeastSureOptions
    options: LeastSureOptions

    def score(self, frames: Sequence[Frame], learner: LearnerView) -> list[float]:
        found = [one.scores[one.scores <= self.options.sure_above] for one in learner.predict(frames)]
        return [float(np.minimum(scores, 1 - scores).sum()) for scores in found]
