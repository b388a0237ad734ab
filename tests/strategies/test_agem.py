"""A-GEM: the gradient of the current frames, projected against the gradient of replayed ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from leocod.strategies.agem import AGEM, AGEMOptions
from leocod.training.batch import Batch
from leocod.training.gradients import flatten_gradient


class Watched(AGEM):
    """Keeps the gradient of every update, as it is applied, and of every batch, as it comes out of the loss."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.raw, self.applied = {}, {}

    def backward(self, batch):
        losses = super().backward(batch)
        self.raw[batch.name] = flatten_gradient(self.weights).clone()
        return losses

    def constrain(self, batch):
        super().constrain(batch)
        self.applied[batch.name] = flatten_gradient(self.weights).clone()


def taught(detector, a_step, **options):
    """A strategy that has learnt one step and met a second, with quite other frames."""
    strategy = Watched(detector, AGEMOptions(**options))
    strategy.learn(a_step(0))
    strategy.raw.clear()
    strategy.applied.clear()
    strategy.learn(a_step(7))
    return strategy


def contradicting(step):
    """The same frames, each said to show another class: what one teaches, the other takes back."""
    labels = {frame_id: replace(one, classes=(one.classes + 1) % 3) for frame_id, one in step.labels.items()}
    return replace(step, labels=labels)


@pytest.mark.slow
def test_the_applied_gradient_does_not_oppose_the_reference(a_detector, a_step):
    opposed = []
    for seed, second in [(seed, second) for seed in range(4) for second in (a_step(7), contradicting(a_step(0)))]:
        strategy = Watched(a_detector(seed=seed, learning_rate=0.005), AGEMOptions())
        for _ in range(16):
            strategy.learn(a_step(0))
        strategy.learn(second)
        raw, applied, reference = strategy.raw["current"], strategy.applied["current"], strategy.raw["reference"]

        opposed.append(bool(torch.dot(raw, reference) < 0))

        assert torch.dot(applied.double(), reference.double()) >= -1e-5 * applied.norm() * reference.norm()
        assert torch.equal(applied, raw) == (not opposed[-1])
    assert any(opposed)


def test_a_weight_without_a_gradient_has_none_after_the_comparison(a_detector, a_step):
    strategy = AGEM(a_detector())
    strategy.learn(a_step(0))
    strategy._reference = strategy.sample_replay()
    same = Batch.mean_of("current", strategy._reference)
    strategy.backward(same)
    first, *others = strategy.weights
    first.grad = None
    before = [one.grad.clone() for one in others]

    strategy.constrain(same)

    assert first.grad is None
    assert all(torch.equal(one.grad, own) for one, own in zip(others, before, strict=True))


def test_an_opposing_gradient_is_projected(a_detector, a_step, a_frame):
    strategy = Watched(a_detector(), AGEMOptions())
    strategy.learn(a_step(0))
    strategy._reference = strategy.sample_replay()
    against = []
    plain = strategy.backward

    def opposing(batch):
        """The reference as it is; for the current batch its opposite and a little of its own."""
        losses = plain(batch)
        if batch.name == "current":
            own = flatten_gradient(strategy.weights).clone()
            plain(Batch.mean_of("reference", strategy._reference))
            for weight, part in zip(
                strategy.weights, own.split([one.numel() for one in strategy.weights]), strict=True
            ):
                weight.grad = 0.1 * part.view_as(weight) - (0 if weight.grad is None else weight.grad)
            against.append(flatten_gradient(strategy.weights).clone())
        return losses

    strategy.backward = opposing
    strategy.update(Batch.mean_of("current", [a_frame(50, (1,))]))

    applied, reference = strategy.applied["current"], strategy.raw["reference"]
    assert torch.dot(against[0], reference) < 0
    assert torch.dot(applied, reference).abs() <= 1e-4 * applied.norm() * reference.norm()


@pytest.mark.parametrize(
    ("options", "updates"),
    [
        ({}, {"current", "replay"}),
        ({"replay_loss": False}, {"current"}),
        ({"recipe": "joint"}, {"current"}),
        ({"recipe": "joint", "replay_loss": False}, {"current"}),
    ],
)
def test_replayed_frames_are_trained_on_unless_it_is_classic(a_detector, a_step, options, updates):
    strategy = taught(a_detector(), a_step, **options)

    assert set(strategy.applied) == updates


def test_the_joint_recipe_applies_the_mean_of_both(a_detector, a_step):
    strategy = taught(a_detector(), a_step, recipe="joint")
    classic = taught(a_detector(), a_step, recipe="joint", replay_loss=False)

    expected = (classic.applied["current"] + classic.raw["reference"]) / 2
    torch.testing.assert_close(strategy.applied["current"], expected)


def test_without_labels_it_still_replays(a_detector, a_step):
    for recipe in ("released", "joint"):
        strategy = AGEM(a_detector(), AGEMOptions(recipe=recipe))
        strategy.learn(a_step(0))

        losses = strategy.learn(a_step(1, labelled=0)).losses

        assert {name.split("/")[0] for name in losses} == {"replay"}


def test_a_reference_that_is_not_finite_is_refused_though_the_gradient_does_not_oppose_it(a_detector, a_step):
    strategy = AGEM(a_detector(), AGEMOptions(replay_loss=False))
    strategy.learn(a_step(0))
    plain = strategy.backward

    def agreeing(batch):
        """A reference that is endless in the direction of the gradient."""
        before = [one.grad for one in strategy.weights]
        losses = plain(batch)
        if batch.name == "reference":
            for one, grad in zip(strategy.weights, before, strict=True):
                one.grad = None if grad is None else grad * float("inf")
                if one.grad is not None:
                    one.grad.nan_to_num_(nan=0.0, posinf=float("inf"), neginf=float("-inf"))
        return losses

    strategy.backward = agreeing
    learned = strategy.learn(a_step(1))

    assert learned.refused == "the gradient of the reference frames is not finite"


def test_replayed_frames_that_share_the_one_update_are_counted(a_detector, a_step):
    joint, classic = (
        AGEM(a_detector(), AGEMOptions(recipe="joint", replay_per_step=3, replay_loss=loss)) for loss in (True, False)
    )
    for strategy in (joint, classic):
        strategy.learn(a_step(0, labelled=2))

    assert joint.learn(a_step(1, labelled=2)).trained_on == (5,)
    assert classic.learn(a_step(1, labelled=2)).trained_on == (2,)
