"""When to evaluate, and on what: the whole test set, also frames from the future."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leocod.errors import InvalidData
from leocod.evaluation.ap import NAMES, Scorer, Style
from leocod.types import Detections, Frame, LabelledFrame, Predict


class Evaluator:
    """Tries a `predict` function on the test frames every so many steps, and after the last one.

    It is handed that function and nothing else, so evaluating more often cannot change what is learnt.
    """

    def __init__(
        self,
        test: Sequence[LabelledFrame],
        classes: tuple[str, ...],
        *,
        every: int,
        last_step: int | None = None,
        batch: int = 32,
        style: Style = "coco",
        frames: int | None = None,
        start: bool = False,
        prequential: bool = False,
    ) -> None:
        """`last_step`: None where nobody knows how long the stream is; it is evaluated once it has ended.

        `frames`: how many of the test frames are looked at, evenly spread; None: all. `start`: also evaluate before the
        first step. `prequential`: also try the learner on the frames of each step before it learns from them.
        """
        if every < 1 or batch < 1:
            raise ValueError(f"every is {every} and batch is {batch}: both must be at least 1.")
        test = test if frames is None else [test[place] for place in spread_evenly(len(test), frames)]
        self.classes = classes
        self.every = every
        self.last_step = last_step
        self.prequential = prequential
        self.batch = batch
        self.start = start
        self.ap_name = NAMES[style]
        truth = {frame.id: labels for frame, labels in test}
        if len(truth) != len(test):
            raise InvalidData(f"{len(test)} test frames have only {len(truth)} different ids: make them unique.")
        # An object without a box would count as a wrong detection.
        if not all(labels.complete for labels in truth.values()):
            test = [(frame, labels) for frame, labels in test if labels.complete]
            truth = {frame.id: labels for frame, labels in test}
        self.test = test
        self._scorer = Scorer(truth, len(classes), style=style)

    def due(self, step_index: int) -> bool:
        """Whether to evaluate once this step is learnt; -1: before the first one.

        Steps count from 0: every 100 means after steps 99, 199, ...
        """
        if step_index < 0:
            return self.start
        return (step_index + 1) % self.every == 0 or step_index == self.last_step

    def evaluate(self, predict: Predict) -> tuple[dict[str, float | None], dict[int, Detections]]:
        """AP by class name, 0 to 1, None for a class without a test box; and what was found, by frame id."""
        detections = self.detect(predict, [frame for frame, _ in self.test])
        precision = self._scorer.score(detections)
        by_class = {
            name: None if np.isnan(value) else float(value) for name, value in zip(self.classes, precision, strict=True)
        }
        return by_class, detections

    def detect(self, predict: Predict, frames: Sequence[Frame]) -> dict[int, Detections]:
        """What is found in each frame, by its id."""
        detections: dict[int, Detections] = {}
        for start in range(0, len(frames), self.batch):
            batch = frames[start : start + self.batch]
            found = predict([frame.image() for frame in batch])
            detections |= {frame.id: one for frame, one in zip(batch, found, strict=True)}
        return detections


def spread_evenly(length: int, count: int) -> list[int]:
    """Up to `count` different positions, evenly over a sequence, first and last included.

    >>> spread_evenly(9, 3)
    [0, 4, 8]
    """
    return sorted(set(np.linspace(0, length - 1, min(count, length)).round().astype(int).tolist()))
