"""A stream hands out a benchmark step by step, once; offline training alone gets it shuffled and repeated."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from leocod.ahead import ahead
from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidFrame, MissingFrame, SourceAway, SourceEnded
from leocod.labelling import Labeller
from leocod.types import Frame, LabelledFrame, Labels, Step

logger = logging.getLogger(__name__)

Read = Sequence[LabelledFrame] | str
"""The frames of a step, or why there are none."""


class Steps(Protocol):
    """Anything that hands out steps, and knows the truth about the last one."""

    truth: Mapping[int, Labels]
    """Frame id -> true labels of the step handed out last. For the benchmark's side only."""
    bytes: int
    """Frames and labels that it keeps: nothing in a single pass, everything labelled for offline training."""

    @property
    def skipped(self) -> Mapping[int, str]:
        """Frame id -> what is wrong with it, of frames left out of the step handed out last: they cannot be read."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What looked wrong with the source before the step handed out last."""
        ...

    def __len__(self) -> int: ...

    def steps(self, start: int = 0) -> Iterator[Step]:
        """Every step from `start` on, once, in order."""
        ...


class Stream:
    """Hands out a benchmark step by step, with the labels that a labeller reveals and no others."""

    def __init__(
        self, benchmark: Benchmark, labeller: Labeller, *, workers: int = 0, patience: float = 0.0, pause: float = 1.0
    ) -> None:
        """`workers`: processes that read the next steps while one is learnt; what is handed out is the same.

        `patience`: seconds to wait for a source that is away; every `pause` seconds it is tried again.
        """
        self.benchmark = benchmark
        self.labeller = labeller
        self.workers = workers
        self.patience = patience
        self.pause = pause
        self.truth: Mapping[int, Labels] = {}
        self.bytes = 0
        self.skipped: dict[int, str] = {}
        self.warnings: list[str] = []

    def __len__(self) -> int:
        return self.benchmark.steps

    def steps(self, start: int = 0) -> Iterator[Step]:
        """Every step from `start` on, once, in order. A source that ends early ends them early."""
        indices = range(start, len(self))
        for index, pairs in self._arriving(indices):
            # Drawn before any frame is lost, so that a lost one does not change which others are labelled.
            revealed = self.labeller.reveal(index, pairs)
            self.skipped = {}
            frames = self.loaded([frame for frame, _ in pairs])
            here = {frame.id for frame in frames}
            self.truth = {frame.id: labels for frame, labels in pairs if labels.known and frame.id in here}
            yield Step(index, frames, {frame: labels for frame, labels in revealed.items() if frame in here})

    def _arriving(self, indices: Sequence[int]) -> Iterator[tuple[int, Sequence[LabelledFrame]]]:
        try:
            for index, read in zip(indices, ahead(self._read, indices, workers=self.workers), strict=True):
                yield index, self._awaited(index, read)
        except SourceEnded as error:
            logger.warning("%s", error)

    def _read(self, index: int) -> Read:
        """The frames of a step with their pixels, but for those that cannot be read: they are told later."""
        try:
            return [(frame.loaded_if_possible(), labels) for frame, labels in self.benchmark.moment(index)]
        except SourceAway as error:
            # Not the error itself: one that is handed over by another process ends the reading.
            return str(error)

    def _awaited(self, index: int, read: Read) -> Sequence[LabelledFrame]:
        """What was read; from a source that is away, what is read once it is back."""
        self.warnings = []
        # Whoever read ahead may have come too early.
        if self.workers and _why_away(read) is not None:
            read = self._read(index)
        began = time.monotonic()
        while (away := _why_away(read)) is not None:
            waited = time.monotonic() - began
            if waited >= self.patience:
                raise SourceAway(f"Step {index}: {away}")
            if not self.warnings:
                logger.warning("Step %s: %s Waiting up to %g s for it.", index, away, self.patience)
                self.warnings = [f"The source was away: {away}"]
            time.sleep(min(self.pause, self.patience - waited))
            read = self._read(index)
        assert not isinstance(read, str)
        return read

    def loaded(self, frames: Iterable[Frame]) -> tuple[Frame, ...]:
        """The frames with their pixels. One that cannot be read ends the run, or is left out, as the benchmark says."""
        found: list[Frame] = []
        for frame in frames:
            try:
                found.append(frame.loaded())
            except InvalidFrame as error:
                fault = self.benchmark.fault(frame, error)
                if self.benchmark.on_bad_frame == "stop":
                    raise fault from error.__cause__
                self.skipped[frame.id] = str(fault)
        return tuple(found)


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
            frames = self.stream.loaded(frame for frame, _ in chosen)
            here = {frame.id for frame in frames}
            self.truth = {frame.id: labels for frame, labels in chosen if frame.id in here}
            yield Step(index, frames, self.truth)

    def _labelled(self) -> list[LabelledFrame]:
        """All at once: a source that is away is not waited for, one that ends early has shown what it has."""
        found: list[LabelledFrame] = []
        with suppress(SourceEnded):
            for index in range(len(self)):
                pairs = self.stream.benchmark.moment(index)
                revealed = self.stream.labeller.reveal(index, pairs)
                found += [(frame, revealed[frame.id]) for frame, _ in pairs if frame.id in revealed]
        return found


def _why_away(read: Read) -> str | None:
    """Why nothing can be had: the source says so, or not one file of the step is there. None: it is not away.

    A file that is there and damaged is another matter, and so is one that is missing among others.
    """
    if isinstance(read, str):
        return read
    first = None
    for frame, _ in read:
        try:
            frame.image()
        except MissingFrame as error:
            first = first or str(error)
        except InvalidFrame:
            return None
        else:
            return None
    return first
