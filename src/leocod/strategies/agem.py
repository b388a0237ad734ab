"""A-GEM: what is learnt now may not raise the loss on what is remembered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from leocod.detectors.base import Detector
from leocod.strategies.base import StrategyOptions
from leocod.strategies.base_replay import ReplayOptions, ReplayStrategy
from leocod.training.batch import Batch
from leocod.training.gradients import flatten_gradient, project, refuse_gradient, set_gradient
from leocod.types import LabelledFrame, Step


class AGEMOptions(ReplayOptions):
    """Options of A-GEM."""

    replay_loss: bool = True
    """Train on the replayed frames too, as the paper's figures need. Off: classic A-GEM, which only compares with
    them."""


class AGEM(ReplayStrategy):
    """Projects the gradient of the current frames so that it does not oppose the gradient of replayed ones.

    Chaudhry et al., Efficient Lifelong Learning with A-GEM, ICLR 2019.
    """

    Options: ClassVar[type[StrategyOptions]] = AGEMOptions
    options: AGEMOptions

    def __init__(self, detector: Detector, options: AGEMOptions | None = None, *, seed: int = 0) -> None:
        super().__init__(detector, options, seed=seed)
        self._reference: Sequence[LabelledFrame] = ()

    def batches(self, step: Step) -> Iterator[Batch]:
        current, self._reference = step.labelled(), self.sample_replay()
        if current:
            yield Batch.mean_of("current", current)
        if self._reference and self.options.replay_loss and not (current and self._adds_reference):
            yield Batch.mean_of("replay", self._reference)

    def constrain(self, batch: Batch) -> None:
        if batch.name != "current" or not self._reference:
            return
        own, gradient = [weight.grad for weight in self.weights], flatten_gradient(self.weights)
        self.backward(Batch.mean_of("reference", self._reference))
        refuse_gradient(self.weights, "reference")
        reference = flatten_gradient(self.weights)
        projected = project(gradient, reference)
        if self._adds_reference:
            set_gradient(self.weights, (projected + reference) / 2)
        elif projected is not gradient:
            set_gradient(self.weights, projected)
        else:
            # As it was, and none where there was none: Adam moves a weight whose gradient is zero on.
            for weight, one in zip(self.weights, own, strict=True):
                weight.grad = one

    def count_frames(self, batch: Batch) -> int:
        added = len(self._reference) if self._adds_reference and batch.name == "current" else 0
        return len(batch.pairs) + added

    @property
    def _adds_reference(self) -> bool:
        """Whether the replayed frames' gradient is part of the one update on the current frames."""
        return self.options.replay_loss and self.options.recipe == "joint"
