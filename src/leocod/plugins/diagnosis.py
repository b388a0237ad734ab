"""Where does the gain of pseudo labels come from, and what limits it? Runs that answer this are no results.

Some diagnoses make pseudo labels better by the truth. The others are controls: they teach something else in the place
of the pseudo-labelled frames, so that all else stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from leocod.errors import InvalidConfig
from leocod.evaluation.audit import match_labels
from leocod.learner import Learner
from leocod.plugins.copies import put_copies
from leocod.plugins.efficient_cls import EfficientCLS, FrameLabeller, Substitute
from leocod.stream.base import Arrival, Steps
from leocod.types import Frame, LabelledFrame, Labels, Step

Diagnosis = Literal[
    "true_boxes",
    "right_labels",
    "missed_ignored",
    "no_errors",
    "all_empty",
    "positives_only",
    "random_boxes",
    "copies",
]

WORDS: dict[Diagnosis, str] = {
    "true_boxes": "true boxes as pseudo labels",
    "right_labels": "pseudo labels without the wrong ones",
    "missed_ignored": "objects without a pseudo label left out of the loss",
    "no_errors": "pseudo labels without the wrong ones, objects without one left out of the loss",
    "all_empty": "every unlabelled frame taught as empty",
    "positives_only": "pseudo labels without the background around them",
    "random_boxes": "pseudo labels moved to random places",
    "copies": "augmented copies of the labelled frames in the place of the unlabelled ones",
}
"""A diagnosis as every output names it."""


Truth = Callable[[Sequence[Frame]], Sequence[Labels]]
"""The true labels of frames."""


class TruthObserver(Steps):
    """A stream that remembers the truth about the step it handed out last, for a diagnosis."""

    def __init__(self, stream: Steps) -> None:
        self.stream = stream
        self.length = stream.length
        self._truth: Mapping[int, Labels] = {}

    def arrivals(self, start: int = 0, *, learner: Learner | None = None) -> Iterator[Arrival]:
        for arrival in self.stream.arrivals(start, learner=learner):
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


def diagnose(plugin: EfficientCLS, kind: Diagnosis, truth: Truth) -> None:
    """Make a plug-in learn as the diagnosis says."""
    plugin.is_diagnosed = True
    if kind in CONTROLS:
        plugin.substitute = CONTROLS[kind]
    else:
        plugin.labeller = improve(kind, plugin.labeller, truth)


def improve(kind: Diagnosis, own: FrameLabeller, truth: Truth) -> FrameLabeller:
    """What a learner writes itself, made better by the truth about the frames."""
    if kind == "true_boxes":
        return lambda frames, labelled: truth(frames)
    better = BETTER[kind]

    def labels(frames: Sequence[Frame], labelled: Sequence[LabelledFrame]) -> list[Labels]:
        # The truth first: without it there is nothing to diagnose.
        return [better(found, true) for true, found in zip(truth(frames), own(frames, labelled), strict=True)]

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


def empty_all(step: Step, pseudo: Sequence[LabelledFrame]) -> list[LabelledFrame]:
    """As if there were nothing in any unlabelled frame: what is left of a gain comes from learning to keep silent."""
    nothing = Labels.none()
    return [(frame, replace(nothing, source=labels.source, weights=labels.weights)) for frame, labels in pseudo]


def keep_positives(step: Step, pseudo: Sequence[LabelledFrame]) -> list[LabelledFrame]:
    """Regions over pseudo labels count, and no others: what is left of a gain comes from the objects."""
    return [(frame, replace(labels, weights=replace(labels.weights, background=0.0))) for frame, labels in pseudo]


def scatter_boxes(step: Step, pseudo: Sequence[LabelledFrame]) -> list[LabelledFrame]:
    """As many labels of the same classes and sizes, anywhere: what is left of a gain does not come from the objects."""
    return [(frame, _scatter(frame, labels, np.random.default_rng([step.index, frame.id]))) for frame, labels in pseudo]


def _scatter(frame: Frame, labels: Labels, random: np.random.Generator) -> Labels:
    height, width = frame.size
    sizes = labels.boxes[:, 2:] - labels.boxes[:, :2]
    room = np.maximum(np.array([width, height], np.float32) - sizes, 0)
    corners = (random.random(room.shape) * room).astype(np.float32)
    return replace(labels, boxes=np.concatenate([corners, corners + sizes], axis=1))


def copy_labelled(step: Step, pseudo: Sequence[LabelledFrame]) -> list[LabelledFrame]:
    """Labelled frames of the step in the place of the others: what is left of a gain comes from the augmentation."""
    return put_copies(pseudo, step.labelled("human"))


CONTROLS: dict[Diagnosis, Substitute] = {
    "all_empty": empty_all,
    "positives_only": keep_positives,
    "random_boxes": scatter_boxes,
    "copies": copy_labelled,
}
"""Those that teach something else. They do not need the truth."""
