"""What if the pseudo labels were better? Labellers that know the truth, to find out what limits a run; no result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from leocod.errors import InvalidConfig
from leocod.evaluation.audit import match_labels
from leocod.plugins.efficient_cls import FrameLabeller
from leocod.stream.base import Arrival, Steps
from leocod.types import Frame, Labels, Predict

Diagnosis = Literal["true_boxes", "right_labels", "missed_ignored", "no_errors"]

WORDS: dict[Diagnosis, str] = {
    "true_boxes": "true boxes as pseudo labels",
    "right_labels": "pseudo labels without the wrong ones",
    "missed_ignored": "objects without a pseudo label left out of the loss",
    "no_errors": "pseudo labels without the wrong ones, objects without one left out of the loss",
}
"""A diagnosis as every output names it."""


class TruthObserver(Steps):
    """A stream that remembers the truth about the step it handed out last, for a diagnosis."""

    def __init__(self, stream: Steps) -> None:
        self.stream = stream
        self.length = stream.length
        self._truth: Mapping[int, Labels] = {}

    def arrivals(self, start: int = 0, *, predict: Predict | None = None) -> Iterator[Arrival]:
        for arrival in self.stream.arrivals(start, predict=predict):
            self._truth = arrival.truth
            yield arrival

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.stream.load_state_dict(state)

    def true_labels(self, frames: Sequence[Frame]) -> list[Labels]:
        """The true labels of frames of the step."""
        for frame in frames:
            if frame.id not in self._truth:
                raise InvalidConfig(
                    f"A diagnosis needs the true boxes, but nobody has labelled frame {frame.index} of {frame.video}. "
                    "Set diagnosis to null, or label all frames."
                )
        return [self._truth[frame.id] for frame in frames]


def diagnose(kind: Diagnosis, own: FrameLabeller, truth: FrameLabeller) -> FrameLabeller:
    """What a learner writes itself, made better by the truth about the frames."""
    if kind == "true_boxes":
        return truth
    better = BETTER[kind]

    def labels(frames: Sequence[Frame]) -> list[Labels]:
        # The truth first: without it there is nothing to diagnose.
        return [better(found, true) for true, found in zip(truth(frames), own(frames), strict=True)]

    return labels


def right_labels(found: Labels, truth: Labels) -> Labels:
    """Without the wrong ones: what is left of the harm is that objects are missed."""
    right = match_labels(found, truth)
    return Labels(found.boxes[right], found.classes[right], unsure=found.unsure)


def missed_ignored(found: Labels, truth: Labels) -> Labels:
    """No object is taught as background: what is left of the harm is that labels are wrong."""
    missed = truth.boxes[~match_labels(truth, found)]
    return Labels(found.boxes, found.classes, unsure=np.concatenate([found.unsure, missed]))


def no_errors(found: Labels, truth: Labels) -> Labels:
    """Nothing wrong is taught: what is left to the true boxes is how little is."""
    return missed_ignored(right_labels(found, truth), truth)


BETTER: dict[Diagnosis, Callable[[Labels, Labels], Labels]] = {
    "right_labels": right_labels,
    "missed_ignored": missed_ignored,
    "no_errors": no_errors,
}
"""Those that start from what the learner writes."""
