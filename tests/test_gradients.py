"""Gradients as vectors, and A-GEM's projection."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from torch import nn

from leocod.gradients import gradient_of, project, set_gradient


def test_gradients_go_into_a_vector_and_back():
    weights = [nn.Parameter(torch.zeros(2, 3)), nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(1))]
    weights[0].grad = torch.arange(6.0).reshape(2, 3)
    weights[2].grad = torch.tensor([7.0])

    vector = gradient_of(weights)
    set_gradient(weights, 2 * vector)

    assert vector.tolist() == [0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 7]
    assert weights[0].grad.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert weights[1].grad.tolist() == [0, 0, 0, 0]


def test_a_gradient_that_opposes_loses_just_the_part_that_does():
    projected = project(torch.tensor([-1.0, 2.0]), torch.tensor([2.0, 0.0]))

    assert projected.tolist() == [0, 2]


@pytest.mark.parametrize("reference", [[1.0, 0.0], [0.0, 0.0], [0.0, -3.0]])
def test_a_gradient_that_does_not_oppose_is_left_as_it_is(reference):
    gradient = torch.tensor([1.0, 0.0])

    assert project(gradient, torch.tensor(reference)) is gradient


@given(some.integers(0, 10_000))
def test_after_projection_nothing_opposes(seed):
    random = torch.Generator().manual_seed(seed)
    gradient, reference = torch.randn(2, 1000, generator=random)

    projected = project(gradient, reference)

    scale = gradient.norm() * reference.norm()
    assert torch.dot(projected, reference) >= -1e-6 * scale
    assert (projected is gradient) == (torch.dot(gradient.double(), reference.double()) >= 0)
