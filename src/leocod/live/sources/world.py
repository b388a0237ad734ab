"""The built-in world as a camera: a walk that does not end."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import numpy as np

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.live.sources.base import Captured, Pace, Source
from leocod.live.sources.clock import Clock
from leocod.types import Labels
from leocod.world.objects import CLASS_NAMES
from leocod.world.scene import Picture

USUAL_RATE = 10.0
"""Frames a second, unless somebody says another number."""

LONG_WALK = 20_000
"""Steps of the walk at least, nine hours with the usual options; then it begins again."""


class WorldSource(Source):
    """The training frames of the benchmark `wander`, in order: its test frames are not shown.

    A longer walk begins like a shorter one, so these are the frames of `leocod run` with the same options and seed.
    """

    endless = True

    def __init__(
        self, options: WanderOptions, *, seed: int, fps: float | None = None, clock: Clock, stopped: Event
    ) -> None:
        super().__init__(clock, stopped)
        longer = {"steps": max(options.steps, LONG_WALK)}
        self.benchmark = Wander(options.model_copy(update=longer), seed=seed)
        self.height, self.width = options.height, options.width
        self._fps = fps or USUAL_RATE

    def describe(self) -> str:
        return f"the built-in world, seed {self.benchmark.seed}, at {self._fps:.3g} frames a second"

    def __iter__(self) -> Iterator[Captured]:
        pace = Pace(self.clock, self.stopped)
        number = 0
        while True:
            image = self._draw(number).pixels
            if not pace.wait_until(number / self._fps):
                return
            yield self.capture(image, number)
            number += 1

    def truth(self, number: int) -> Labels:
        """The true labels of a captured frame, for a simulated person. No learner may ask."""
        picture = self._draw(number)
        classes = [self.benchmark.classes.index(CLASS_NAMES[int(kind)]) for kind in picture.kinds]
        return Labels(picture.boxes, np.asarray(classes, np.int64))

    def _draw(self, number: int) -> Picture:
        step, position = divmod(number, self.benchmark.options.frames_per_step)
        return self.benchmark.picture(step % self.benchmark.steps, position)
