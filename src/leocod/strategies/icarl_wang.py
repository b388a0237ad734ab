"""The iCaRL of the OAK benchmark: one box of each class is remembered, and only objects are replayed, no background."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from leocod.strategies.base import Batch, MemoryOptions, MemoryStrategy, StrategyOptions
from leocod.types import LabelledFrame, Labels, LossWeights, Step


class ICaRLWang(MemoryStrategy):
    """Replays one remembered box of every class. The rest of such a frame is not known to be background.

    All frames share one update, whatever the recipe: the ratio below weighs two losses against each other, and Adam
    does not see the scale of a loss that comes alone. The recipe only decides how many frames enter the memory.

    Wang et al., Wanderlust: Online Continual Object Detection in the Real World, ICCV 2021.
    """

    Options: ClassVar[type[StrategyOptions]] = MemoryOptions

    def batches(self, step: Step) -> Iterator[Batch]:
        current, replayed = step.labelled(), self.memory.one_of_each()
        if not current:
            return
        ratio = min(1.0, len(current) / max(len(replayed), 1))
        weights = LossWeights(proposals=ratio, boxes=ratio, classes=ratio, background=0.0)
        positive_only = [(frame, replace(labels, weights=weights)) for frame, labels in replayed]
        yield Batch.mean_of("current+replay" if replayed else "current", [*current, *positive_only])

    def remember(self, step: Step) -> None:
        self.memory.add([one for pair in self.offered(step) for one in self._single_boxes(pair)])

    def _single_boxes(self, pair: LabelledFrame) -> Iterator[LabelledFrame]:
        """For every class in the frame: the frame with one box of that class, by chance."""
        frame, labels = pair
        for name in np.unique(labels.classes):
            box = self.random.choice(np.flatnonzero(labels.classes == name))
            yield frame, Labels(labels.boxes[box], labels.classes[box])
