"""GDumb: keep a balanced memory, learn from nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from leocod.strategies.base import StrategyOptions
from leocod.strategies.base_replay import ReplayOptions, ReplayStrategy
from leocod.training.batch import Batch
from leocod.types import Step


class GDumbOptions(ReplayOptions):
    """Options of GDumb."""

    memory_replacement: str | None = "released"
    """Who stays when a class is full: `reservoir`, `released`, `first`, `fifo` or module:Class, as in the other
    strategies. `released` by default, in either recipe: what never enters the memory is never learnt, so a memory that
    changes is worth more here than an even one. `first` is the original's."""


class GDumb(ReplayStrategy):
    """Trains on remembered frames only, two batches of them; never directly on the frames a person has just labelled.

    Frames with pseudo labels, which no memory keeps, join the first of the two.

    Prabhu et al., GDumb: A Simple Approach that Questions Our Progress in Continual Learning, ECCV 2020.
    """

    Options: ClassVar[type[StrategyOptions]] = GDumbOptions

    def batches(self, step: Step) -> Iterator[Batch]:
        first = [*step.labelled("pseudo"), *self.sample_replay()]
        yield from self.by_recipe(replay=first, replay_again=self.sample_replay())
