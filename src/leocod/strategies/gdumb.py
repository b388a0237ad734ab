"""GDumb: keep a balanced memory, learn from nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from leocod.strategies.base import Batch, ReplayStrategy
from leocod.types import Step


class GDumb(ReplayStrategy):
    """Trains on remembered frames only, two batches of them; never directly on the frames a person has just labelled.

    Frames with pseudo labels, which no memory keeps, are trained on as they come: there is no other way to use them.

    Prabhu et al., GDumb: A Simple Approach that Questions Our Progress in Continual Learning, ECCV 2020.
    """

    def batches(self, step: Step) -> Iterator[Batch]:
        yield from self.by_recipe(current=step.labelled("pseudo"), replay=self.replayed(), replay_again=self.replayed())
