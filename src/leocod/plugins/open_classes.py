"""A class list that is not known beforehand: it starts with what the weights know and grows with the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from leocod.learner import Learned, Learner
from leocod.plugins.wrapper import Wrapper
from leocod.types import Detections, Images, LabelledFrame, Labels, Step
from leocod.weights.names import find_row


class OpenClasses(Wrapper[Learner]):
    """Translates between the class numbers of a stream and those of a learner whose class list grows.

    A class is added with the first label that a person gives it. The learner may detect classes that the stream has no
    name for; those detections are dropped.
    """

    def __init__(self, learner: Learner, names: Sequence[str]) -> None:
        """`names`: the stream's classes, by number. The learner never sees this list."""
        super().__init__(learner)
        self.names = tuple(names)

    def remembered_frames(self) -> list[LabelledFrame]:
        numbers = self._to_stream()
        return [(frame, _renumber(labels, numbers)) for frame, labels in self.learner.remembered_frames()]

    def learn(self, step: Step) -> Learned:
        self.extend_classes(self._first_seen(step))
        numbers = self._to_learner()
        mapped = replace(step, labels={key: _renumber(labels, numbers) for key, labels in step.labels.items()})
        learned = self.learner.learn(mapped)
        outside = self._to_stream()
        return replace(learned, pseudo={key: _renumber(labels, outside) for key, labels in learned.pseudo.items()})

    def _first_seen(self, step: Step) -> list[str]:
        inside = self._to_learner()
        labelled = dict.fromkeys(int(number) for _, labels in step.labelled("human") for number in labels.classes)
        return [self.names[number] for number in labelled if inside[number] < 0]

    def predict(self, images: Images) -> list[Detections]:
        return self._translate(self.learner.predict(images))

    def predict_fast(self, images: Images) -> list[Detections]:
        return self._translate(self.learner.predict_fast(images))

    def _translate(self, found: Sequence[Detections]) -> list[Detections]:
        outside = self._to_stream()
        translated = []
        for one in found:
            numbers = outside[one.classes]
            known = numbers >= 0
            translated.append(Detections(one.boxes[known], numbers[known], one.scores[known]))
        return translated

    def extend_classes(self, names: Sequence[str]) -> None:
        if names:
            self.learner.extend_classes(names)

    def _to_stream(self) -> NDArray[np.int64]:
        """The stream's number of each of the learner's classes, however it is spelt there; -1 where it has none."""
        places = [find_row(name, self.names) for name in self.classes]
        return np.array([-1 if place is None else place for place in places], np.int64)

    def _to_learner(self) -> NDArray[np.int64]:
        """The learner's number of each of the stream's classes; -1 where it has none.

        No two share one, though they may mean the same elsewhere: the stream tells them apart. The exact name wins.
        """
        inside = np.full(len(self.names), -1, np.int64)
        for number, name in enumerate(self._to_stream()):
            if name >= 0 and (inside[name] < 0 or self.classes[number] == self.names[name]):
                inside[name] = number
        return inside


def _renumber(labels: Labels, numbers: NDArray[np.int64]) -> Labels:
    """With other numbers for the classes; boxes of a class that has none are left out."""
    classes = numbers[labels.classes] if len(labels) else labels.classes
    known = classes >= 0
    logits = None if labels.logits is None else labels.logits[known]
    return replace(labels, boxes=labels.boxes[known], classes=classes[known], logits=logits)
