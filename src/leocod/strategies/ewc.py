"""Elastic weight consolidation: weights that mattered before are held where they were."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from leocod.detectors.base import Detector
from leocod.errors import InvalidConfig
from leocod.strategies.base import Strategy, StrategyOptions
from leocod.training.batch import Batch
from leocod.training.gradients import flatten_gradient, grow_rows
from leocod.types import Step


class EWCOptions(StrategyOptions):
    """Options of elastic weight consolidation."""

    importance: float = Field(1000.0, ge=0)
    """How strongly the weights are pulled back."""
    boundary_every: int = Field(100, ge=1)
    """Steps from one anchor to the next: a stream has no task boundaries, so they are declared."""
    fisher_keep: float = Field(0.95, ge=0, le=1)
    """How much of the earlier importance of a weight remains at a boundary, where the latest is added."""
    parameters: str = "*"
    """Which weights are held, by name, for example `roi_heads.*`."""


class EWC(Strategy):
    """Adds importance / 2 x sum of F (w - w*)^2, with w* the weights at the last boundary and F their diagonal Fisher.

    F is kept online: the mean squared gradient of the loss between two boundaries, and a part of the F before.

    Kirkpatrick et al., Overcoming Catastrophic Forgetting in Neural Networks, PNAS 2017; online as in Schwarz et al.,
    Progress & Compress, ICML 2018.
    """

    Options: ClassVar[type[StrategyOptions]] = EWCOptions
    options: EWCOptions

    def __init__(self, detector: Detector, options: EWCOptions | None = None, *, seed: int = 0) -> None:
        super().__init__(detector, options, seed=seed)
        wanted = self.options.parameters
        named = dict(detector.named_parameters())
        self._names = [name for name in named if fnmatch(name, wanted)]
        if not self._names:
            raise InvalidConfig(f"strategy.parameters is '{wanted}': it fits no weight, such as {next(iter(named))}.")
        self._held = [named[name] for name in self._names]
        self._shapes = [one.shape for one in self._held]
        self._anchor = self._weights().detach().clone()
        self._fisher = torch.zeros_like(self._anchor)
        self._squares = torch.zeros_like(self._anchor)
        self._updates = 0
        self._steps = 0

    def penalty(self, batch: Batch) -> dict[str, Tensor]:
        moved = self._weights() - self._anchor
        # Of the weights and not of frames: a part of a batch has a part of it.
        return {"pull": batch.share * self.options.importance / 2 * (self._fisher * moved.square()).sum()}

    def constrain(self, batch: Batch) -> None:
        # The gradient stays as it is. It is that of the labels and of the pull; the Fisher is about the labels alone.
        pull = self.options.importance * self._fisher * (self._weights().detach() - self._anchor)
        self._squares += (flatten_gradient(self._held) - pull).square()
        self._updates += 1

    def remember(self, step: Step) -> None:
        self._steps += 1
        if self._steps % self.options.boundary_every == 0 and self._updates:
            self._fisher = self.options.fisher_keep * self._fisher + self._squares / self._updates
            self._anchor = self._weights().detach().clone()
            self._squares.zero_()
            self._updates = 0

    def grow(self, moved: Mapping[str, Tensor]) -> None:
        super().grow(moved)
        self._fisher, self._squares = self._grow_vector(self._fisher, moved), self._grow_vector(self._squares, moved)
        # New weights matter to nothing yet, wherever their anchor is.
        self._anchor = self._grow_vector(self._anchor, moved)
        self._shapes = [one.shape for one in self._held]

    def _grow_vector(self, vector: Tensor, moved: Mapping[str, Tensor]) -> Tensor:
        """A vector about the weights as they were, for the weights as they are."""
        parts = vector.split([shape.numel() for shape in self._shapes])
        rows = [part.view(shape) for part, shape in zip(parts, self._shapes, strict=True)]
        return parameters_to_vector(
            [
                grow_rows(one, moved[name], value) if name in moved else one
                for name, value, one in zip(self._names, self._held, rows, strict=True)
            ]
        )

    def _weights(self) -> Tensor:
        return parameters_to_vector(self._held)

    def trained_state(self) -> dict[str, Any]:
        return super().trained_state() | {"squares": self._squares.clone(), "updates": self._updates}

    def load_trained_state(self, state: Mapping[str, Any]) -> None:
        super().load_trained_state(state)
        self._squares, self._updates = state["squares"].clone().to(self._anchor), state["updates"]

    def state_dict(self) -> dict[str, Any]:
        own = {"anchor": self._anchor.clone(), "fisher": self._fisher.clone(), "steps": self._steps}
        return super().state_dict() | own

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self._steps = state["steps"]
        self._anchor, self._fisher = (state[name].clone().to(self._anchor) for name in ("anchor", "fisher"))
