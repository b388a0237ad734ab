"""Two strategies to build on: one that remembers frames, and one that also replays them at each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from leocod.detectors.base import Detector
from leocod.errors import InvalidConfig
from leocod.memory.encoding import find_encoding
from leocod.memory.intake import IntakeName, select_frames
from leocod.memory.options import MemorySettings
from leocod.memory.replay import ReplayMemory
from leocod.strategies.base import Strategy, StrategyOptions
from leocod.text import pluralize
from leocod.training.batch import Batch
from leocod.types import LabelledFrame, Step

REPLAYED = 16
"""Frames replayed at a step, in the paper: as many as arrive."""


class MemoryOptions(MemorySettings, StrategyOptions):
    """Options of every strategy that remembers frames."""

    @property
    def intake(self) -> IntakeName:
        """Which frames may enter the memory."""
        return self.memory_intake or ("released" if self.recipe == "released" else "all")

    @property
    def replacement(self) -> str:
        """Who stays when a class is full."""
        return self.memory_replacement or ("released" if self.recipe == "released" else "reservoir")


class ReplayOptions(MemoryOptions):
    """Options of every strategy that trains on remembered frames at each step."""

    replay_per_step: int = Field(REPLAYED, ge=1)
    """Remembered frames in one update. While there are fewer, they repeat."""
    replay_per_class: int = Field(2, ge=1)
    """Frames that each class may contribute to them."""


class MemoryStrategy(Strategy):
    """Remembers labelled frames of every step. A subclass decides what they are for."""

    Options: ClassVar[type[StrategyOptions]] = MemoryOptions
    options: MemoryOptions

    def __init__(self, detector: Detector, options: MemoryOptions | None = None, *, seed: int = 0) -> None:
        super().__init__(detector, options, seed=seed)
        self._memory = ReplayMemory(
            classes=len(detector.classes),
            per_class=self.options.memory_per_class,
            max_bytes=self.options.memory_bytes,
            store=self.options.memory_store,
            replacement=self.options.replacement,
            encoding=find_encoding(self.options.memory_encoding, self.options.memory_jpeg_quality),
            seed=seed + 1,
        )

    @property
    def memory(self) -> ReplayMemory:
        return self._memory

    def grow(self, moved: Mapping[str, Tensor]) -> None:
        super().grow(moved)
        self._memory.classes = len(self.classes)

    def remember(self, step: Step) -> None:
        self.memory.add(self.select_for_memory(step))

    def select_for_memory(self, step: Step) -> list[LabelledFrame]:
        """The frames of a step that may enter the memory: labelled by a person, as many as `memory_intake` allows."""
        return select_frames(step, self.options.intake, self.random)


class ReplayStrategy(MemoryStrategy):
    """Draws frames from its memory at every step. As it stands, it trains on the step and on these, by the recipe."""

    Options: ClassVar[type[StrategyOptions]] = ReplayOptions
    options: ReplayOptions

    def check(self, classes: int) -> None:
        limits = (self.options.memory_per_class, self.memory.store.limit_draw(self.options.replay_per_class))
        known = [limit for limit in limits if limit is not None]
        if not known:
            return
        each = min(known)
        most = max(each * classes, REPLAYED)
        if self.options.replay_per_step > most:
            raise InvalidConfig(
                f"strategy.replay_per_step is {self.options.replay_per_step}: it should be from 1 to {most}, "
                f"{each} for each of {pluralize(classes, 'class')} (memory_per_class, replay_per_class)."
            )

    def sample_replay(self) -> list[LabelledFrame]:
        """Remembered frames for one update. Drawn before the step is stored: no frame is replayed as it arrives."""
        return self.draw_remembered(self.options.replay_per_step)

    def draw_remembered(self, count: int) -> list[LabelledFrame]:
        return self.memory.sample(count, per_class=self.options.replay_per_class)

    def batches(self, step: Step) -> Iterator[Batch]:
        yield from self.by_recipe(current=step.labelled(), replay=self.sample_replay())


def ask_logits(detector: Detector, pairs: Sequence[LabelledFrame]) -> list[Tensor]:
    """What a detector thinks of the boxes of each frame: class logits without gradients, as many frames as fit."""
    images, boxes = [frame.image() for frame, _ in pairs], [labels.boxes for _, labels in pairs]
    most = detector.frames_at_once or len(pairs) or 1
    with torch.no_grad():
        return [
            logits
            for first in range(0, len(pairs), most)
            for logits in detector.class_logits(images[first : first + most], boxes[first : first + most])
        ]
