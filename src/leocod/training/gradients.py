"""All gradients of some weights as one vector, and back; gradients that would vanish; tensors that grow."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from leocod.settings import list_leaves


def flatten_gradient(weights: Sequence[nn.Parameter]) -> Tensor:
    """The gradients, one after the other; zero for a weight that has none."""
    return parameters_to_vector([torch.zeros_like(one) if one.grad is None else one.grad for one in weights])


def set_gradient(weights: Sequence[nn.Parameter], vector: Tensor) -> None:
    """Give each weight its part of the vector as gradient."""
    for one, part in zip(weights, vector.split([one.numel() for one in weights]), strict=True):
        one.grad = part.view_as(one)


def match_strides(weights: Sequence[nn.Parameter]) -> None:
    """Let every gradient lie in memory as its weight does: Adam in one kernel does not look, and would mix them up."""
    for one in weights:
        if one.grad is not None and one.grad.stride() != one.stride():
            one.grad = torch.empty_like(one).copy_(one.grad)


def project(gradient: Tensor, reference: Tensor) -> Tensor:
    """The vector nearest to the gradient that does not oppose the reference; the gradient itself if it does not.

    g - (g . r / r . r) r where g . r < 0: A-GEM's formula. Sums over a million products are taken in double precision,
    on the processor: not every device has it.
    """
    accurate = reference.cpu().double()
    overlap = torch.dot(gradient.cpu().double(), accurate)
    if overlap >= 0:
        return gradient
    length = torch.dot(accurate, accurate)
    return gradient - (overlap / length).item() * reference


def grow_rows(old: Tensor, where: Tensor, like: Tensor) -> Tensor:
    """A tensor as large as another one: the old rows where they are now, zero elsewhere."""
    new = torch.zeros_like(like, dtype=old.dtype)
    new[where.to(new.device)] = old
    return new


def copy_state(state: Any) -> Any:
    """A state with tensors of its own; many times quicker than a deep copy, which looks for what it has seen."""
    if isinstance(state, Tensor):
        return state.clone()
    if isinstance(state, dict):
        return {name: copy_state(value) for name, value in state.items()}
    return [copy_state(value) for value in state] if isinstance(state, list) else state


def hash_tensors(state: Mapping[str, Any]) -> str:
    """Tells whether two states have the same tensors under the same names, to the bit. Other values do not count."""
    held = hashlib.sha256()
    for name, value in list_leaves(state):
        if isinstance(value, Tensor):
            held.update(name.encode())
            held.update(value.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
    return held.hexdigest()


class NotFinite(ArithmeticError):
    """A loss or a gradient that is not a number, or too large for one. No weight may come to see it."""


def refuse_loss(losses: Mapping[str, float], of: str) -> None:
    """Raise unless every loss is finite; `of` says whose they are."""
    for name, value in losses.items():
        if not math.isfinite(value):
            raise NotFinite(f"the loss {of}/{name} is {value}")


def refuse_gradient(weights: Sequence[nn.Parameter], of: str) -> None:
    """Raise unless every gradient is finite, and so is its square, which optimisers keep."""
    if not is_finite(weights):
        raise NotFinite(f"the gradient of the {of} frames is not finite")


def is_finite(weights: Sequence[nn.Parameter]) -> bool:
    """Whether the square of the length of every gradient is a finite number."""
    gradients = [one.grad for one in weights if one.grad is not None]
    return not gradients or bool(torch.stack(torch._foreach_norm(gradients)).square().isfinite().all())


class LossScale:
    """Makes gradients in half precision large enough not to vanish, and small enough to be finite.

    As torch.amp's GradScaler, but the gradient can be looked at and changed between the loss and the update, as often
    as a strategy likes. On a factor of 1 it does nothing at all.
    """

    START, MOST = 2.0**16, 2.0**24
    PATIENCE = 2000
    """Finite gradients in a row before a larger factor is tried."""

    def __init__(self, *, on: bool) -> None:
        self.on = on
        self.factor = self.START if on else 1.0
        self._finite_in_a_row = 0

    def unscale(self, weights: Sequence[nn.Parameter]) -> None:
        """Divide the gradients by the factor that their loss had. Where they are not finite, the next is smaller."""
        gradients = [one.grad for one in weights if one.grad is not None]
        if not self.on or not gradients:
            return
        torch._foreach_div_(gradients, self.factor)
        finite = is_finite(weights)
        self._finite_in_a_row = self._finite_in_a_row + 1 if finite else 0
        if not finite:
            self.factor = max(self.factor / 2, 1.0)
        elif self._finite_in_a_row == self.PATIENCE:
            self.factor, self._finite_in_a_row = min(self.factor * 2, self.MOST), 0

    def state_dict(self) -> dict[str, Any]:
        return {"on": self.on, "factor": self.factor, "finite_in_a_row": self._finite_in_a_row}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; one that was saved without scaling says nothing."""
        if self.on and state["on"]:
            self.factor, self._finite_in_a_row = state["factor"], state["finite_in_a_row"]
