"""A recorded stream: hands out a benchmark step by step, once."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidFrame, MissingFrame, SourceAway, SourceEnded
from leocod.labelling.base import Labeller
from leocod.stream.prefetch import prefetch
from leocod.types import Frame, LabelledFrame, Labels, Step

logger = logging.getLogger(__name__)

Read = Sequence[LabelledFrame] | str
"""The frames of a step, or why there are none."""


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
            frames = self.load([frame for frame, _ in pairs])
            here = {frame.id for frame in frames}
            self.truth = {frame.id: labels for frame, labels in pairs if labels.known and frame.id in here}
            yield Step(index, frames, {frame: labels for frame, labels in revealed.items() if frame in here})

    def _arriving(self, indices: Sequence[int]) -> Iterator[tuple[int, Sequence[LabelledFrame]]]:
        try:
            for index, read in zip(indices, prefetch(self._read, indices, workers=self.workers), strict=True):
                yield index, self._awaited(index, read)
        except SourceEnded as error:
            logger.warning("%s", error)

    def _read(self, index: int) -> Read:
        """The frames of a step with their pixels, but for those that cannot be read: they are told later."""
        try:
            return [(frame.load_if_possible(), labels) for frame, labels in self.benchmark.frames_of(index)]
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

    def load(self, frames: Iterable[Frame]) -> tuple[Frame, ...]:
        """The frames with their pixels. One that cannot be read ends the run, or is left out, as the benchmark says."""
        found: list[Frame] = []
        for frame in frames:
            try:
                found.append(frame.load())
            except InvalidFrame as error:
                fault = self.benchmark.fault(frame, error)
                if self.benchmark.on_bad_frame == "stop":
                    raise fault from error.__cause__
                self.skipped[frame.id] = str(fault)
        return tuple(found)


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
