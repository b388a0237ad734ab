"""MIR: of what is remembered, replay what the step has disturbed most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from leocod.errors import InvalidConfig
from leocod.strategies.base import StrategyOptions
from leocod.strategies.base_replay import REPLAYED, ReplayOptions, ReplayStrategy
from leocod.training.batch import Batch
from leocod.types import LabelledFrame, Step


class MIROptions(ReplayOptions):
    """Options of MIR."""

    candidates: int = Field(2 * REPLAYED, ge=1)
    """Remembered frames that are looked at: more than `replay_per_step`, and at most `replay_per_class` of each class.
    Those whose loss has risen most are replayed."""


class MIR(ReplayStrategy):
    """Replays the remembered frames whose loss rises most by the update on the current frames.

    In the recipe `released` that update has been made when they are chosen. In `joint` it is tried, and taken back.

    Aljundi et al., Online Continual Learning with Maximally Interfered Retrieval, NeurIPS 2019.
    """

    Options: ClassVar[type[StrategyOptions]] = MIROptions
    options: MIROptions

    def check(self, classes: int) -> None:
        super().check(classes)
        replayed = self.options.replay_per_step
        if self.options.candidates <= replayed:
            raise InvalidConfig(
                f"strategy.candidates is {self.options.candidates}: it should be more than strategy.replay_per_step, "
                f"which is {replayed}. Else all candidates are replayed, and `icarl` does the same for less."
            )

    def batches(self, step: Step) -> Iterator[Batch]:
        current, candidates = step.labelled(), self._draw_candidates()
        if not current or len(candidates) <= self.options.replay_per_step:
            yield from self.by_recipe(current=current, replay=self._fill(candidates))
            return
        seeds = self.random.integers(2**61, size=len(candidates)).tolist()
        before = self._compute_losses(candidates, seeds)
        if self.options.recipe == "joint":
            state = self.trained_state()
            self.update(Batch.mean_of("trial", current))
            after = self._compute_losses(candidates, seeds)
            self.load_trained_state(state)
            yield Batch.mean_of("current+replay", current, self._choose(candidates, after - before))
        else:
            yield Batch.mean_of("current", current)
            after = self._compute_losses(candidates, seeds)
            yield Batch.mean_of("replay", self._choose(candidates, after - before))

    def _draw_candidates(self) -> list[LabelledFrame]:
        """Different entries of the memory."""
        drawn = self.draw_remembered(self.options.candidates)
        return list({id(labels): (frame, labels) for frame, labels in drawn}.values())

    def _fill(self, pairs: Sequence[LabelledFrame]) -> list[LabelledFrame]:
        """As many as are replayed; while there are fewer, they repeat."""
        return [pairs[place % len(pairs)] for place in range(self.options.replay_per_step)] if pairs else []

    def _choose(self, candidates: Sequence[LabelledFrame], rise: NDArray[np.float64]) -> list[LabelledFrame]:
        most = np.argsort(-rise, kind="stable")[: self.options.replay_per_step]
        return [candidates[place] for place in most]

    def _compute_losses(self, pairs: Sequence[LabelledFrame], seeds: Sequence[int]) -> NDArray[np.float64]:
        """The loss of each frame, with the same draw of regions each time."""
        most = self.detector.frames_at_once or len(pairs)
        losses = []
        with torch.no_grad():
            for first in range(0, len(pairs), most):
                part = pairs[first : first + most]
                by_name = self.detector.loss(
                    [frame.image() for frame, _ in part], [labels for _, labels in part], seeds[first : first + most]
                )
                losses.append(torch.stack(list(by_name.values())).sum(dim=0))
        return torch.cat(losses).double().cpu().numpy()
