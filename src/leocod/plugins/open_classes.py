"""A class list that is not known beforehand: it starts with what the weights know and grows with the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leocod.detectors.base import Detector
from leocod.learner import Learned, Learner
from leocod.memory.replay import ReplayMemory
from leocod.types import Detections, Images, LabelledFrame, Labels, Step
from leocod.weights.names import find_row


class OpenClasses:
    """Stands between a stream and a learner that has a list of its own, and tells the numbers of one from the other's.

    A class is added with the first label that a person gives it, and not before. What the learner knows from elsewhere,
    and the stream has no name for, it may find: nobody is told.
    """

    def __init__(self, learner: Learner, names: Sequence[str]) -> None:
        """`names`: the stream's classes, by number. The learner never sees this list."""
        self.learner = learner
        self.names = tuple(names)

    @property
    def single_pass(self) -> bool:
        return self.learner.single_pass

    @property
    def memory(self) -> ReplayMemory | None:
        return self.learner.memory

    @property
    def classes(self) -> tuple[str, ...]:
        return self.learner.classes

    @property
    def deployed_detector(self) -> Detector:
        return self.learner.deployed_detector

    def remembered_frames(self) -> list[LabelledFrame]:
        numbers = self._outside()
        return [(frame, _renamed(labels, numbers)) for frame, labels in self.learner.remembered_frames()]

    def learn(self, step: Step) -> Learned:
        self.extend_classes(self._first_seen(step))
        numbers = self._inside()
        mapped = replace(step, labels={key: _renamed(labels, numbers) for key, labels in step.labels.items()})
        learned = self.learner.learn(mapped)
        outside = self._outside()
        return replace(learned, pseudo={key: _renamed(labels, outside) for key, labels in learned.pseudo.items()})

    def _first_seen(self, step: Step) -> list[str]:
        inside = self._inside()
        labelled = dict.fromkeys(int(number) for _, labels in step.labelled("human") for number in labels.classes)
        return [self.names[number] for number in labelled if inside[number] < 0]

    def predict(self, images: Images) -> list[Detections]:
        outside = self._outside()
        found = []
        for one in self.learner.predict(images):
            numbers = outside[one.classes]
            known = numbers >= 0
            found.append(Detections(one.boxes[known], numbers[known], one.scores[known]))
        return found

    def extend_classes(self, names: Sequence[str]) -> None:
        if names:
            self.learner.extend_classes(names)

    def _outside(self) -> NDArray[np.int64]:
        """The stream's number of each of the learner's classes, however it is spelt there; -1 where it has none."""
        places = [find_row(name, self.names) for name in self.classes]
        return np.array([-1 if place is None else place for place in places], np.int64)

    def _inside(self) -> NDArray[np.int64]:
        """The learner's number of each of the stream's classes; -1 where it has none.

        No two share one, though they may mean the same elsewhere: the stream tells them apart. The exact name wins.
        """
        inside = np.full(len(self.names), -1, np.int64)
        for number, name in enumerate(self._outside()):
            if name >= 0 and (inside[name] < 0 or self.classes[number] == self.names[name]):
                inside[name] = number
        return inside

    def state_dict(self) -> dict[str, Any]:
        return self.learner.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.learner.load_state_dict(state)


def _renamed(labels: Labels, numbers: NDArray[np.int64]) -> Labels:
    """With other numbers for the classes; boxes of a class that has none are left out."""
    classes = numbers[labels.classes] if len(labels) else labels.classes
    known = classes >= 0
    logits = None if labels.logits is None else labels.logits[known]
    return replace(labels, boxes=labels.boxes[known], classes=classes[known], logits=logits)
