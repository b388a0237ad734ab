"""Gradients as vectors, and A-GEM's projection."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from torch import nn

from leocod.training.gradients import (
    LossScale,
    NotFinite,
    copy_state,
    flatten_gradient,
    grow_rows,
    hash_tensors,
    is_finite,
    match_strides,
    project,
    refuse_gradient,
    refuse_loss,
    set_gradient,
)


def test_gradients_go_into_a_vector_and_back():
    weights = [nn.Parameter(torch.zeros(2, 3)), nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(1))]
    weights[0].grad = torch.arange(6.0).reshape(2, 3)
    weights[2].grad = torch.tensor([7.0])

    vector = flatten_gradient(weights)
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


def test_a_tensor_grows_where_the_rows_have_gone():
    old = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    new = grow_rows(old, torch.tensor([0, 2]), torch.ones(4, 2))

    assert new.tolist() == [[1, 2], [0, 0], [3, 4], [0, 0]]


def test_a_scaled_loss_gives_back_the_same_gradient_and_a_factor_of_one_does_nothing():
    for on in (True, False):
        scale = LossScale(on=on)
        weight = nn.Parameter(torch.tensor([1.0, 2.0]))

        (weight.square().sum() * scale.factor).backward()

        assert (scale.factor == 1) == (not on)
        scale.unscale([weight, nn.Parameter(torch.zeros(1))])
        assert weight.grad.tolist() == [2, 4]


def a_weight(*gradient):
    weight = nn.Parameter(torch.zeros(len(gradient)))
    weight.grad = torch.tensor(gradient)
    return weight


def test_a_gradient_that_is_not_finite_halves_the_factor():
    scale = LossScale(on=True)

    scale.unscale([a_weight(float("inf"))])

    assert scale.factor == LossScale.START / 2


BAD = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "square": 1e20}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_gradient_is_refused_when_it_or_its_square_is_not_finite(bad):
    good = a_weight(1.0, 2.0)
    refuse_gradient([good, nn.Parameter(torch.zeros(1))], "current")
    assert is_finite([good])

    assert not is_finite([good, a_weight(1.0, bad)])
    with pytest.raises(NotFinite, match="^the gradient of the current frames is not finite$"):
        refuse_gradient([good, a_weight(1.0, bad)], "current")


def test_where_there_is_no_gradient_there_is_nothing_to_refuse():
    assert is_finite([nn.Parameter(torch.zeros(1))])
    assert is_finite([])


def test_a_copied_state_has_tensors_of_its_own():
    state = {"state": {0: {"step": torch.tensor(1.0)}}, "groups": [{"lr": 0.1, "betas": (0.9, 0.99), "params": [0]}]}

    twin = copy_state(state)
    twin["state"][0]["step"] += 1
    twin["groups"][0]["params"].append(1)

    assert state["state"][0]["step"] == 1
    assert state["groups"] == [{"lr": 0.1, "betas": (0.9, 0.99), "params": [0]}]


@pytest.mark.parametrize("bad", ["nan", "inf", "-inf"])
def test_a_loss_that_is_not_finite_is_refused_with_its_name(bad):
    good = {"class": 0.5}
    refuse_loss(good, "current")

    with pytest.raises(NotFinite, match=f"^the loss current/box is {bad}$"):
        refuse_loss(good | {"box": float(bad)}, "current")


def test_the_factor_grows_again_after_patience(monkeypatch):
    monkeypatch.setattr(LossScale, "PATIENCE", 3)
    scale = LossScale(on=True)
    weight = nn.Parameter(torch.tensor([1.0]))

    factors = []
    for _ in range(4):
        weight.grad = torch.ones(1)
        scale.unscale([weight])
        factors.append(scale.factor / LossScale.START)

    assert factors == [1, 1, 2, 2]


def test_a_scale_goes_on_from_its_state_also_from_the_lowest():
    one, two = LossScale(on=True), LossScale(on=True)
    weight = nn.Parameter(torch.tensor([1.0]))
    for _ in range(20):
        weight.grad = torch.tensor([float("nan")])
        one.unscale([weight])

    two.load_state_dict(one.state_dict())

    assert two.factor == one.factor == 1


def test_what_was_saved_without_a_scale_leaves_it_at_its_start():
    scale = LossScale(on=True)

    scale.load_state_dict(LossScale(on=False).state_dict())

    assert scale.factor == LossScale.START


def test_the_digest_tells_names_and_values_apart():
    one = {"weight": torch.zeros(2, 3), "count": torch.tensor(1)}

    assert hash_tensors(one) == hash_tensors({name: value.clone() for name, value in one.items()})
    assert hash_tensors(one) != hash_tensors(one | {"count": torch.tensor(2)})
    assert hash_tensors(one) != hash_tensors({"bias": one["weight"], "count": one["count"]})


def test_the_digest_looks_into_a_state_and_takes_every_kind_of_number():
    def state(half: float, **rest: object) -> dict[str, object]:
        return {"weights": {"half": torch.tensor([half], dtype=torch.bfloat16), "none": torch.zeros(0)}, **rest}

    assert hash_tensors(state(0.5)) == hash_tensors(state(0.5, classes=["mug"]))
    assert hash_tensors(state(0.5)) != hash_tensors(state(0.25))


def test_where_there_is_no_gradient_there_is_nothing_to_take_back(monkeypatch):
    monkeypatch.setattr(LossScale, "PATIENCE", 1)
    scale = LossScale(on=True)

    scale.unscale([nn.Parameter(torch.zeros(1))])

    assert scale.factor == LossScale.START


def test_a_single_weight_whose_gradient_has_no_finite_square_is_noticed():
    assert is_finite([a_weight(1e18)])
    assert not is_finite([a_weight(1e25)])


def test_a_gradient_is_laid_out_as_its_weight_and_adam_in_one_kernel_takes_it():
    weight = nn.Parameter(torch.zeros(2, 3))
    weight.grad = torch.arange(6.0).view(3, 2).t()

    match_strides([weight, nn.Parameter(torch.zeros(1))])
    torch.optim.Adam([weight], lr=1.0, fused=True).step()

    assert weight.grad.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert weight.tolist() == pytest.approx([pytest.approx([0, -1, -1]), pytest.approx([-1, -1, -1])])
