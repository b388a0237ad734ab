"""All labelled frames of a stream, shuffled and repeated: for offline training, the exception to the single pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from leocod.errors import InvalidConfig, SourceEnded
from leocod.learner import Learner
from leocod.stream.base import Arrival, Steps
from leocod.stream.recorded import Stream
from leocod.types import LabelledFrame, Step


@dataclass(frozen=True)
class Shuffle:
    """How offline training wants its frames."""

    epochs: int
    """Passes over all labelled frames."""
    batch_size: int
    """Frames that come together."""


class Reshuffled(Steps):
    """All labelled frames of a stream, shuffled, several times over, in batches spread evenly over as many steps.

    It holds every labelled frame, or the path of its file.
    """

    def __init__(self, stream: Stream, shuffle: Shuffle, *, seed: int) -> None:
        if stream.under_way.delay:
            raise InvalidConfig(
                f"labels.delay is {stream.under_way.delay}, but offline training has all labels before the first step: "
                "it should be 0."
            )
        self.stream = stream
        self.shuffle = shuffle
        self.seed = seed
        self.length = stream.length

    def arrivals(self, start: int = 0, *, learner: Learner | None = None) -> Iterator[Arrival]:
        """As many steps as the stream has; with few labels some of them are empty.

        All labels are chosen before the first step, so no labeller can ask what the learner predicts.
        """
        steps, size = self.stream.benchmark.steps, self.shuffle.batch_size
        by_step = self._collect_labelled()
        pairs = [pair for labelled in by_step.values() for pair in labelled]
        held = sum(frame.bytes + labels.bytes for frame, labels in pairs)
        draw = np.random.default_rng(self.seed)
        order = np.concatenate([draw.permutation(len(pairs)) for _ in range(self.shuffle.epochs)])
        batches = -(-len(order) // size)
        revealed = {
            step: self.stream.estimate_efforts({frame.id: labels for frame, labels in labelled})
            for step, labelled in by_step.items()
        }
        for index in range(start, steps):
            first, end = (-(-batches * edge // steps) * size for edge in (index, index + 1))
            chosen = [pairs[number] for number in order[first:end]]
            frames, skipped = self.stream.load(frame for frame, _ in chosen)
            present = {frame.id for frame in frames}
            step = Step(index, frames, {frame.id: labels for frame, labels in chosen if frame.id in present})
            truth = {frame: labels for frame, labels in step.labels.items() if labels.complete}
            yield Arrival(step, truth, skipped, revealed=revealed if index == start else {}, bytes=held)

    def _collect_labelled(self) -> dict[int, list[LabelledFrame]]:
        """Of each step. A source that is away is not waited for; one that ends early has shown what it has."""
        found: dict[int, list[LabelledFrame]] = {}
        with suppress(SourceEnded):
            for index in range(self.stream.benchmark.steps):
                pairs = self.stream.benchmark.frames_of(index)
                revealed = self.stream.reveal(index, pairs)
                found[index] = [(frame, revealed[frame.id]) for frame, _ in pairs if frame.id in revealed]
        return found
