"""A benchmark: an ordered video with hidden truth, held-out test frames and class names. A stream hands it out once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from leocod.labelling import Labeller
from leocod.types import LabelledFrame, Labels, Step


class Benchmark(ABC):
    """What is learnt and how it is tested. Knows the truth, so no learner ever holds one.

    A subclass in `benchmarks/<name>.py` also has `Options`, a Settings class, and is built as
    `Subclass(options, seed=...)`.
    """

    name: str
    classes: tuple[str, ...]
    steps: int
    """How many steps the stream has."""

    @abstractmethod
    def moment(self, step: int) -> Sequence[LabelledFrame]:
        """The training frames of one step, in order, each with its true labels. Any step, in any order."""

    @property
    @abstractmethod
    def test(self) -> Sequence[LabelledFrame]:
        """The held-out frames with their true labels."""


class Steps(Protocol):
    """Anything that hands out steps, and knows the truth about the last one."""

    truth: Mapping[int, Labels]
    """Frame id -> true labels of the step handed out last. For the benchmark's side only."""
    bytes: int
    """Frames and labels that it keeps: nothing in a single pass, everything labelled for offline training."""

    def __len__(self) -> int: ...

    def steps(self, start: int = 0) -> Iterator[Step]:
        """Every step from `start` on, once, in order."""
        ...


class Stream:
    """Hands out a benchmark step by step, with the labels that a labeller reveals and no others."""

    def __init__(self, benchmark: Benchmark, labeller: Labeller) -> None:
        self.benchmark = benchmark
        self.labeller = labeller
        self.truth: Mapping[int, Labels] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return self.benchmark.steps

    def steps(self, start: int = 0) -> Iterator[Step]:
        """Every step from `start` on, once, in order."""
        for index in range(start, len(self)):
            pairs = self.benchmark.moment(index)
            self.truth = {frame.id: labels for frame, labels in pairs}
            frames = tuple(frame.loaded() for frame, _ in pairs)
            yield Step(index, frames, self.labeller.reveal(index, pairs))


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
            self.truth = {frame.id: labels for frame, labels in chosen}
            yield Step(index, tuple(frame.loaded() for frame, _ in chosen), self.truth)

    def _labelled(self) -> list[LabelledFrame]:
        found: list[LabelledFrame] = []
        for index in range(len(self)):
            pairs = self.stream.benchmark.moment(index)
            revealed = self.stream.labeller.reveal(index, pairs)
            found += [(frame, revealed[frame.id]) for frame, _ in pairs if frame.id in revealed]
        return found
