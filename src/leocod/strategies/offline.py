"""Ordinary training on the whole stream at once: what could be learnt if nothing had to be learnt in passing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from leocod.strategies.base import Strategy, StrategyOptions
from leocod.stream.reshuffled import Shuffle
from leocod.training.batch import Batch
from leocod.types import Step


class OfflineOptions(StrategyOptions):
    """Options of offline training."""

    epochs: int = Field(2, ge=1)
    """Passes over all labelled frames of the stream."""
    batch_size: int = Field(16, ge=1)
    """Frames in one update."""


class Offline(Strategy):
    """The declared exception to the single pass: all labelled frames of the stream, shuffled, several times over.

    An even part of that training comes at each step, so that it is evaluated as often as the others.
    """

    Options: ClassVar[type[StrategyOptions]] = OfflineOptions
    options: OfflineOptions

    @property
    def shuffle(self) -> Shuffle:
        return Shuffle(self.options.epochs, self.options.batch_size)

    def batches(self, step: Step) -> Iterator[Batch]:
        pairs = step.labelled()
        size = self.options.batch_size
        for first in range(0, len(pairs), size):
            yield Batch.mean_of("current", pairs[first : first + size])
