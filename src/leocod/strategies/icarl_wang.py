"""The iCaRL of the OAK benchmark: one box of each class is remembered, and only objects are replayed, no background."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from leocod.strategies.base_replay import MemoryStrategy
from leocod.training.batch import Batch
from leocod.types import LabelledFrame, LossWeights, Step


class ICaRLWang(MemoryStrategy):
    """Replays one remembered box of every class. The rest of such a frame is not known to be background.

    All frames share one update, whatever the recipe: the ratio below weighs two losses against each other, and Adam
    does not see the scale of a loss that comes alone. The recipe only decides how many frames enter the memory.

    Wang et al., Wanderlust: Online Continual Object Detection in the Real World, ICCV 2021.
    """

    def batches(self, step: Step) -> Iterator[Batch]:
        current, replayed = step.labelled(), self.memory.one_of_each()
        if not current:
            return
        ratio = min(1.0, len(current) / max(len(replayed), 1))
        objects_only = LossWeights.all(ratio, background=0.0)
        # Objects are averaged over all frames; background over those that have one, so that it keeps its weight.
        more = (len(current) + len(replayed)) / len(current)
        pairs = [
            (frame, replace(labels, weights=replace(labels.weights, background=more * labels.weights.background)))
            for frame, labels in current
        ]
        pairs += [(frame, replace(labels, weights=objects_only)) for frame, labels in replayed]
        yield Batch.mean_of("current+replay" if replayed else "current", pairs)

    def remember(self, step: Step) -> None:
        self.memory.add([one for pair in self.select_for_memory(step) for one in self._single_boxes(pair)])

    def _single_boxes(self, pair: LabelledFrame) -> Iterator[LabelledFrame]:
        """For every class in the frame: the frame with one box of that class, by chance."""
        frame, labels = pair
        for name in np.unique(labels.classes):
            box = self.random.choice(np.flatnonzero(labels.classes == name))
            yield frame, replace(labels, boxes=labels.boxes[box], classes=labels.classes[box])
