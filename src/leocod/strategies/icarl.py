"""Balanced experience replay: the paper's "iCaRL (our impl.)". Despite the name, no herding and no nearest mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from leocod.detectors.base import Detector
from leocod.memory import MemoryOptions, ReplayMemory
from leocod.strategies.base import Batch, Strategy, StrategyOptions
from leocod.types import Step

RELEASED_INTAKE = 4
"""Labelled frames of a step that may enter the memory in the authors' code."""


class ICaRLOptions(StrategyOptions):
    """Options of balanced experience replay."""

    memory: MemoryOptions = MemoryOptions()
    """What is kept."""
    replay_per_step: int = Field(16, ge=1)
    """Remembered frames trained on at each step."""


class ICaRL(Strategy):
    """Trains on the step and on remembered frames, with the standard losses on both.

    Wu et al., Label-Efficient Online Continual Object Detection in Streaming Video, ICCV 2023.
    """

    Options: ClassVar[type[StrategyOptions]] = ICaRLOptions
    options: ICaRLOptions

    def __init__(self, detector: Detector, options: ICaRLOptions | None = None, *, seed: int = 0) -> None:
        super().__init__(detector, options, seed=seed)
        self._memory = ReplayMemory(self.options.memory, seed=seed + 1)

    @property
    def memory(self) -> ReplayMemory:
        return self._memory

    def batches(self, step: Step) -> Iterator[Batch]:
        # Drawn before the step is stored, so that a frame is never replayed in the step it arrives.
        replayed = self.memory.sample(self.options.replay_per_step)
        yield from self.by_recipe(current=step.labelled(), replay=replayed)

    def remember(self, step: Step) -> None:
        pairs = step.labelled("human")
        if self.options.recipe == "released":
            chosen = self.random.permutation(len(pairs))[:RELEASED_INTAKE]
            pairs = [pairs[number] for number in sorted(chosen)]
        self.memory.add(pairs)
