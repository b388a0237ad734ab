"""ER-ACE: the frames of the step say nothing about classes that they do not show. Replayed frames speak of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from leocod.strategies.base_replay import ReplayStrategy
from leocod.training.batch import Batch
from leocod.types import LabelledFrame, Step


class ERACE(ReplayStrategy):
    """Replay in which new frames do not push down the outputs of classes that are away.

    Caccia et al., New Insights on Reducing Abrupt Representation Change in Online Continual Learning, ICLR 2022. There
    a step's images compete among the classes of the step; here its regions do, and the background.
    """

    def batches(self, step: Step) -> Iterator[Batch]:
        yield from self.by_recipe(current=limit_classes(step.labelled()), replay=self.sample_replay())


def limit_classes(pairs: Sequence[LabelledFrame]) -> list[LabelledFrame]:
    """The same frames, which teach nothing about classes that none of them shows."""
    shown = frozenset(number for _, labels in pairs for number in labels.classes.tolist())
    return [(frame, replace(labels, among=shown)) for frame, labels in pairs]
