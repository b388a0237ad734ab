"""samples/: a few frames worth looking at, with true boxes and the boxes that were given or found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as PillowImage

from leocod.benchmarks.base import Benchmark
from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepLearned
from leocod.learner import Learner
from leocod.rundir import write_json
from leocod.sinks.base import Resting
from leocod.types import Detections, Frame, Labels

PSEUDO_STEPS = 4
PSEUDO_FRAMES = 2
"""Of each of these steps."""
TEST_FRAMES = 8
MEMORY_FRAMES = 12
LOWEST_SCORE = 0.3
"""Of detections that are shown."""


class Samples(Resting):
    """Picks frames evenly spread over the run, the test set and the memory. Belongs to the benchmark's side."""

    def __init__(self, folder: Path, benchmark: Benchmark, learner: Learner) -> None:
        self.folder = folder
        self.benchmark = benchmark
        self.learner = learner
        self.entries: list[dict[str, Any]] = []
        self._steps: set[int] = set()
        self._last: Evaluated | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            # Not the very first one, in which nothing has been learnt.
            self._steps = set(spread(event.steps, PSEUDO_STEPS + 1)[1:])
        elif isinstance(event, StepLearned) and event.step in self._steps:
            self._pseudo(event)
        elif isinstance(event, Evaluated):
            self._last = event
        elif isinstance(event, RunFinished):
            self._test()
            self._memory(event.steps - 1)
            write_json(self.folder / "samples.json", self.entries, indent=2)

    def _pseudo(self, event: StepLearned) -> None:
        pairs = [pair for pair in self.benchmark.moment(event.step) if pair[0].id in event.pseudo]
        for number in spread(len(pairs), PSEUDO_FRAMES):
            frame, truth = pairs[number]
            self._keep("pseudo", event.step, frame, truth, event.pseudo[frame.id])

    def _test(self) -> None:
        if self._last is None:
            return
        pairs = self.benchmark.test
        for number in spread(len(pairs), TEST_FRAMES):
            frame, truth = pairs[number]
            found = self._last.detections[frame.id].above(LOWEST_SCORE)
            self._keep("test", self._last.step, frame, truth, found)

    def _memory(self, step: int) -> None:
        held = self.learner.remembered()
        for number in spread(len(held), MEMORY_FRAMES):
            frame, labels = held[number]
            self._keep("memory", step, frame, labels, labels)

    def _keep(self, kind: str, step: int, frame: Frame, truth: Labels, marked: Labels | Detections) -> None:
        name = f"{kind}_{step:05d}_{frame.id}.png"
        self.folder.mkdir(parents=True, exist_ok=True)
        PillowImage.fromarray(frame.image()).save(self.folder / name)
        scores: Iterable[float] = marked.scores.tolist() if isinstance(marked, Detections) else [1.0] * len(marked)
        self.entries.append(
            {
                "kind": kind,
                "step": step,
                "frame": frame.id,
                "file": name,
                "truth": _rows(truth),
                "boxes": [[*row, round(score, 4)] for row, score in zip(_rows(marked), scores, strict=True)],
            }
        )


def spread(length: int, count: int) -> list[int]:
    """Up to `count` different positions, evenly over a sequence, first and last included.

    >>> spread(9, 3)
    [0, 4, 8]
    """
    return sorted(set(np.linspace(0, length - 1, min(count, length)).round().astype(int).tolist()))


def _rows(marked: Labels | Detections) -> list[list[float]]:
    corners = marked.boxes.astype(float).round(2).tolist()
    return [[*box, category] for box, category in zip(corners, marked.classes.tolist(), strict=True)]
