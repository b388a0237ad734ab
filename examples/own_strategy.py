"""A strategy of one's own: replay what the detector is worst at.

PYTHONPATH=examples leocod run --strategy own_strategy:WorstFirst
PYTHONPATH=examples leocod run --strategy own_strategy:WorstFirst --plugin none
"""

from collections.abc import Iterator
from typing import ClassVar

import torch
from pydantic import Field

from leocod import Batch, ReplayOptions, ReplayStrategy, Step, StrategyOptions


class WorstFirstOptions(ReplayOptions):
    """Options of replaying the worst first."""

    candidates: int = Field(32, ge=1)
    """Remembered frames to choose from at each step, `replay_per_step` of them."""


class WorstFirst(ReplayStrategy):
    """Draws more frames than it replays, and replays those with the highest loss."""

    Options: ClassVar[type[StrategyOptions]] = WorstFirstOptions
    options: WorstFirstOptions

    def batches(self, step: Step) -> Iterator[Batch]:
        drawn = self.memory.sample(self.options.candidates, per_class=self.options.replay_per_class)
        drawn = list({frame.id: (frame, labels) for frame, labels in drawn}.values())
        if drawn:
            with torch.no_grad():
                parts = self.detector.loss([frame.image() for frame, _ in drawn], [labels for _, labels in drawn])
            worst = torch.stack(list(parts.values())).sum(dim=0).argsort(descending=True)
            drawn = [drawn[number] for number in worst[: self.options.replay_per_step].tolist()]
        yield from self.by_recipe(current=step.labelled(), replay=drawn)
