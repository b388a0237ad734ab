"""All gradients of some weights as one vector, and back."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector


def gradient_of(weights: Sequence[nn.Parameter]) -> Tensor:
    """The gradients, one after the other; zero for a weight that has none."""
    return parameters_to_vector([torch.zeros_like(one) if one.grad is None else one.grad for one in weights])


def set_gradient(weights: Sequence[nn.Parameter], vector: Tensor) -> None:
    """Give each weight its part of the vector as gradient."""
    for one, part in zip(weights, vector.split([one.numel() for one in weights]), strict=True):
        one.grad = part.view_as(one)


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
