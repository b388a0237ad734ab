"""Offline training alone gets the stream shuffled and repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from leocod.errors import SourceEnded
from leocod.stream.recorded import Stream
from leocod.types import LabelledFrame, Labels, Step


@dataclass(frozen=True)
class Shuffle:
    """How offline training wants its frames."""

    epochs: int
    """Passes over all labelled frames."""
    batch_size: int
    """Frames that come together."""


class Reshuffled:
    """All labelled frames of a stream, shuffled, several times over, in batches spread evenly over as many steps.

    For offline training, the declared exception to the single pass. It holds every labelled frame, or its file's path.
    """

    def __init__(self, stream: Stream, shuffle: Shuffle, *, seed: int) -> None:
        self.stream = stream
        self.shuffle = shuffle
        self.seed = seed
        self.truth: Mapping[int, Labels] = {}
        self.bytes = 0

    @property
    def skipped(self) -> Mapping[int, str]:
        return self.stream.skipped

    @property
    def warnings(self) -> Sequence[str]:
        return self.stream.warnings

    def __len__(self) -> int:
        return len(self.stream)

    def steps(self, start: int = 0) -> Iterator[Step]:
        """As many steps as the stream has; with few labels some of them are empty."""
        pairs = self._labelled()
        self.bytes = sum(frame.bytes + labels.bytes for frame, labels in pairs)
        draw = np.random.default_rng(self.seed)
        order = np.concatenate([draw.permutation(len(pairs)) for _ in range(self.shuffle.epochs)])
        size = self.shuffle.batch_size
        batches = -(-len(order) // size)
        for index in range(start, len(self)):
            first, end = (-(-batches * edge // len(self)) * size for edge in (index, index + 1))
            chosen = [pairs[number] for number in order[first:end]]
            self.stream.skipped = {}
            frames = self.stream.load(frame for frame, _ in chosen)
            here = {frame.id for frame in frames}
            self.truth = {frame.id: labels for frame, labels in chosen if frame.id in here}
            yield Step(index, frames, self.truth)

    def _labelled(self) -> list[LabelledFrame]:
        """All at once: a source that is away is not waited for, one that ends early has shown what it has."""
        found: list[LabelledFrame] = []
        with suppress(SourceEnded):
            for index in range(len(self)):
                pairs = self.stream.benchmark.frames_of(index)
                revealed = self.stream.labeller.reveal(index, pairs)
                found += [(frame, revealed[frame.id]) for frame, _ in pairs if frame.id in revealed]
        return found
