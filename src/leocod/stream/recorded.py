"""A recorded stream: hands out a benchmark step by step, once."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig, InvalidFrame, MissingFrame, SourceAway, SourceEnded
from leocod.labelling.base import Labeller, LabelRequest, StreamInfo
from leocod.learner import Learner
from leocod.stream.base import Arrival, Steps
from leocod.stream.budget import Budget
from leocod.stream.prefetch import prefetch
from leocod.stream.questions import Questions
from leocod.stream.under_way import UnderWay
from leocod.types import Effort, Frame, LabelledFrame, Labels, Step

logger = logging.getLogger(__name__)

StepFrames = Sequence[LabelledFrame] | str
"""The frames of a step, or why there are none."""


def describe_stream(benchmark: Benchmark) -> StreamInfo:
    """What a labeller may know of a benchmark."""
    return StreamInfo(benchmark.name, tuple(benchmark.classes), benchmark.steps, benchmark.published_frames)


class Stream(Steps):
    """Hands out a benchmark step by step, with the labels of the frames that a labeller chooses and no others."""

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
        self.length = benchmark.steps
        self.budget = Budget(labeller.options, benchmark.steps)
        self.under_way = UnderWay(labeller.options.delay)

    def arrivals(self, start: int = 0, *, learner: Learner | None = None) -> Iterator[Arrival]:
        """Every step from `start` on, once, in order. A source that ends early ends them early."""
        for index, pairs, warnings in self._read_steps(range(start, self.benchmark.steps)):
            # Chosen before any frame is lost, so that a lost one does not change which others are labelled.
            chosen = self.choose(index, pairs, learner)
            frames, skipped = self.load([frame for frame, _ in pairs])
            truth = {frame.id: labels for frame, labels in pairs if labels.known}
            labelled = [(frame, truth[frame.id]) for frame in frames if frame.id in chosen]
            if self.under_way.delay:
                labelled = self.under_way.exchange(index, labelled)
                truth |= {frame.id: labels for frame, labels in labelled}
                frames = (*(frame for frame, _ in labelled), *(frame for frame in frames if frame.id not in chosen))
            labels = {frame.id: self.answer(frame, true) for frame, true in labelled}
            yield Arrival(
                Step(index, frames, labels),
                truth={frame.id: truth[frame.id] for frame in frames if frame.id in truth and truth[frame.id].complete},
                skipped=skipped,
                warnings=(*self.benchmark.warnings, *warnings) if index == 0 else warnings,
                revealed={index: self.estimate_efforts(labels)},
                bytes=self.under_way.bytes,
                state=self.state_dict(),
            )

    def state_dict(self) -> dict[str, Any]:
        """What the next step depends on."""
        return {
            "labeller": self.labeller.state_dict(),
            "budget": self.budget.state_dict(),
            "under_way": self.under_way.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        # In earlier versions nothing carried over and no label was late, so the state was the labeller's.
        if "under_way" not in state:
            self.labeller.load_state_dict(state)
            return
        self.labeller.load_state_dict(state["labeller"])
        self.budget.load_state_dict(state["budget"])
        self.under_way.load_state_dict(state["under_way"])

    def reveal(self, index: int, pairs: Sequence[LabelledFrame]) -> dict[int, Labels]:
        """What the person says of the frames that the labeller chooses."""
        chosen = self.choose(index, pairs)
        return {frame.id: self.answer(frame, labels) for frame, labels in pairs if frame.id in chosen}

    def choose(self, index: int, pairs: Sequence[LabelledFrame], learner: Learner | None = None) -> set[int]:
        """Ids of the frames that a person is asked for: those that the labeller chooses and somebody knows."""
        known = frozenset(frame.id for frame, labels in pairs if labels.known)
        request = LabelRequest(
            index,
            [frame for frame, _ in pairs],
            known,
            self.budget.allow(index, len(pairs)),
            Questions(self.labeller.name, learner),
        )
        chosen = set(self.labeller.choose(request))
        if strangers := chosen - {frame.id for frame in request.frames}:
            raise InvalidConfig(
                f"The labeller chose frames {sorted(strangers)[:5]} at step {index}, which are not in the step."
            )
        self.budget.spend(len(chosen & known))
        return chosen & known

    def answer(self, frame: Frame, truth: Labels) -> Labels:
        """What the person says of a frame: the truth, or as many of its boxes as they draw, by chance."""
        most = self.labeller.options.boxes
        if most is None or len(truth) <= most:
            return truth
        kept = np.sort(np.random.default_rng([self.labeller.seed, frame.id]).permutation(len(truth))[:most])
        return replace(truth, boxes=truth.boxes[kept], classes=truth.classes[kept], complete=False)

    def estimate_efforts(self, labels: Mapping[int, Labels]) -> dict[int, Effort]:
        """What the labels of each frame take a person."""
        return {frame: self.labeller.options.estimate_effort(one) for frame, one in labels.items()}

    def load(self, frames: Iterable[Frame]) -> tuple[tuple[Frame, ...], dict[int, str]]:
        """The frames with their pixels, and what is wrong with those that were left out.

        A frame that cannot be read ends the run, or is left out, as the benchmark says.
        """
        loaded: list[Frame] = []
        skipped: dict[int, str] = {}
        for frame in frames:
            try:
                loaded.append(frame.load())
            except InvalidFrame as error:
                fault = self.benchmark.fault(frame, error)
                if self.benchmark.on_bad_frame == "stop":
                    raise fault from error.__cause__
                skipped[frame.id] = str(fault)
        return tuple(loaded), skipped

    def _read_steps(self, indices: Sequence[int]) -> Iterator[tuple[int, Sequence[LabelledFrame], tuple[str, ...]]]:
        """Each step with its frames, and a warning if its source was away."""
        try:
            for index, frames in zip(indices, prefetch(self._read, indices, workers=self.workers), strict=True):
                yield index, *self._wait_for(index, frames)
        except SourceEnded as error:
            logger.warning("%s", error)

    def _read(self, index: int) -> StepFrames:
        """The frames of a step with their pixels, but for those that cannot be read: they are reported later."""
        try:
            return [(frame.load_if_possible(), labels) for frame, labels in self.benchmark.frames_of(index)]
        except SourceAway as error:
            # Not the error itself: one that another process hands over would end the reading.
            return str(error)

    def _wait_for(self, index: int, frames: StepFrames) -> tuple[Sequence[LabelledFrame], tuple[str, ...]]:
        """What was read; from a source that is away, what is read once it is back, and a warning."""
        # A process that prefetches may have come too early.
        if self.workers and _why_away(frames) is not None:
            frames = self._read(index)
        warnings: tuple[str, ...] = ()
        began = time.monotonic()
        while (away := _why_away(frames)) is not None:
            waited = time.monotonic() - began
            if waited >= self.patience:
                raise SourceAway(f"Step {index}: {away}")
            if not warnings:
                logger.warning("Step %s: %s Waiting up to %g s for it.", index, away, self.patience)
                warnings = (f"The source was away: {away}",)
            time.sleep(min(self.pause, self.patience - waited))
            frames = self._read(index)
        assert not isinstance(frames, str)
        return frames, warnings


def _why_away(frames: StepFrames) -> str | None:
    """Why the source is away: it says so, or not one file of the step is there. None: it is not away.

    A file that is there and damaged is another matter, and so is one that is missing among others.
    """
    if isinstance(frames, str):
        return frames
    first = None
    for frame, _ in frames:
        try:
            frame.image()
        except MissingFrame as error:
            first = first or str(error)
        except InvalidFrame:
            return None
        else:
            return None
    return first
