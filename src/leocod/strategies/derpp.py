"""DER++: remember not only the labels of a frame but also what the detector thought of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from leocod.strategies.base import StrategyOptions
from leocod.strategies.base_replay import ReplayOptions, ReplayStrategy, ask_logits
from leocod.training.batch import Batch
from leocod.training.gradients import NotFinite
from leocod.types import LossWeights, Step


class DERPPOptions(ReplayOptions):
    """Options of DER++."""

    alpha: float = Field(0.1, ge=0)
    """Weight of the squared distance to the stored class logits."""
    beta: float = Field(1.0, ge=0)
    """Weight of the replayed frames' labels."""


class DERPP(ReplayStrategy):
    """Replays labels, and holds the class logits at the remembered boxes to what they were when they were stored.

    Buzzega et al., Dark Experience for General Continual Learning, NeurIPS 2020.
    """

    Options: ClassVar[type[StrategyOptions]] = DERPPOptions
    options: DERPPOptions

    def batches(self, step: Step) -> Iterator[Batch]:
        weights = replace(LossWeights.all(self.options.beta), logits=self.options.alpha)
        replayed = [(frame, replace(labels, weights=weights)) for frame, labels in self.sample_replay()]
        yield from self.by_recipe(current=step.labelled(), replay=replayed)

    def remember(self, step: Step) -> None:
        pairs = self.select_for_memory(step)
        logits = ask_logits(self.detector, pairs)
        if not all(bool(one.isfinite().all()) for one in logits):
            raise NotFinite("a class logit to be remembered is not finite")
        self.memory.add(
            [
                (frame, replace(labels, logits=then.cpu().numpy()))
                for (frame, labels), then in zip(pairs, logits, strict=True)
            ]
        )
