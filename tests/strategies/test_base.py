"""The template: batches, shares and the four hooks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.strategies.base import Strategy, StrategyOptions
from leocod.training.batch import Batch
from leocod.training.gradients import LossScale
from leocod.types import LossWeights, Step


def test_groups_count_the_same_and_so_do_frames_within_one(a_frame):
    batch = Batch.mean_of("both", [a_frame(1), a_frame(2)], [a_frame(3)], [])

    np.testing.assert_allclose(batch.shares, [0.25, 0.25, 0.5])


def test_an_update_is_the_shares_times_the_frames_losses(a_detector, a_frame):
    detector = a_detector()
    detector.loss = lambda images, labels, seeds: {"one": torch.tensor([1.0, 2.0, 4.0], requires_grad=True)}

    losses = Strategy(detector).update(Batch.mean_of("both", [a_frame(1), a_frame(2)], [a_frame(3)]))

    assert losses == {"both/one": pytest.approx(0.25 + 0.5 + 2)}


def test_hooks_are_called_in_order(a_detector, a_step):
    called = []

    class Listening(Strategy):
        def penalty(self, batch):
            called.append("penalty")
            return {"pull": 0.0 * next(self.detector.parameters()).sum()}

        def constrain(self, batch):
            assert any(parameter.grad is not None for parameter in self.detector.parameters())
            called.append("constrain")

        def remember(self, step):
            called.append("remember")

    losses = Listening(a_detector()).learn(a_step()).losses

    assert called == ["penalty", "constrain", "remember"]
    assert losses["current/pull"] == 0


def test_the_optimiser_has_the_detectors_rate(a_detector):
    strategy = Strategy(a_detector(learning_rate=0.005), StrategyOptions())

    assert strategy.optimizer.param_groups[0]["lr"] == 0.005
    assert isinstance(strategy.optimizer, torch.optim.Adam)


def test_weights_without_a_loss_stay_where_they_are(a_detector, a_step):
    """Adam would move them on by its momentum, if their gradient were zero instead of absent."""
    strategy = Strategy(a_detector())
    for index in range(3):
        strategy.learn(a_step(index))
    before = {name: value.clone() for name, value in strategy.detector.named_parameters()}
    regions_only = [
        (frame, replace(labels, weights=LossWeights(proposals=0))) for frame, labels in a_step(3).labelled()
    ]

    strategy.update(Batch.mean_of("current", regions_only))

    moved = {name for name, value in strategy.detector.named_parameters() if not torch.equal(value, before[name])}
    assert not any(name.startswith("rpn.") for name in moved)
    assert any(name.startswith("roi_heads.") for name in moved)


def test_frames_of_which_nothing_counts_change_nothing(a_detector, a_step):
    strategy = Strategy(a_detector())
    strategy.learn(a_step(0))
    before = {name: value.clone() for name, value in strategy.detector.named_parameters()}

    strategy.update(
        Batch.mean_of(
            "current", [(frame, replace(one, weights=LossWeights.all(0))) for frame, one in a_step(1).labelled()]
        )
    )

    assert all(torch.equal(value, before[name]) for name, value in strategy.detector.named_parameters())


def test_the_joint_recipe_of_an_empty_step_is_nothing(a_detector):
    assert list(Strategy(a_detector(), StrategyOptions(recipe="joint")).batches(Step(0, (), {}))) == []


def test_a_loss_scale_that_is_too_large_costs_a_step_and_is_smaller_at_the_next(a_detector, a_step):
    strategy = Strategy(a_detector())
    strategy.loss_scale = LossScale(on=True)
    strategy.loss_scale.factor = 2.0**200
    before = strategy.trained_state()

    refused = strategy.learn(a_step(0)).refused

    assert refused == "the gradient of the current frames is not finite"
    assert strategy.loss_scale.factor == 2.0**199
    after = strategy.trained_state()["detector"]["weights"]
    assert all(torch.equal(after[name], value) for name, value in before["detector"]["weights"].items())


def test_a_gradient_that_a_hook_makes_infinite_is_refused_too(a_detector, a_step):
    class Careless(Strategy):
        def constrain(self, batch):
            next(self.detector.parameters()).grad.fill_(float("inf"))

    strategy = Careless(a_detector())
    before = strategy.detector.state_dict()["weights"]

    assert strategy.learn(a_step(0)).refused

    after = strategy.detector.state_dict()["weights"]
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_what_is_trained_can_be_taken_back_more_than_once(a_detector, a_step):
    strategy = Strategy(a_detector())
    strategy.learn(a_step(0))
    before = strategy.trained_state()
    losses = strategy.learn(a_step(1)).losses

    for _ in range(2):
        strategy.load_trained_state(before)
        strategy.random = np.random.default_rng(5)
        again = strategy.learn(a_step(1)).losses
        assert again.keys() == losses.keys()
        strategy.load_trained_state(before)
        assert same(strategy.trained_state(), before)


def same(one, two):
    if isinstance(one, torch.Tensor):
        return torch.equal(one, two)
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(value, two[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


def test_a_step_is_learnt_from_once_unless_rounds_say_more(a_detector, a_step):
    class Listening(Strategy):
        remembered = 0

        def remember(self, step):
            self.remembered += 1

    once, thrice = Listening(a_detector()), Listening(a_detector(), StrategyOptions(rounds=3))

    assert once.learn(a_step(0, labelled=2)).trained_on == (2,)
    assert thrice.learn(a_step(0, labelled=2)).trained_on == (2, 2, 2)
    assert (once.remembered, thrice.remembered) == (1, 1)


def test_a_later_round_is_shown_what_the_plug_in_makes_of_the_step(a_detector, a_step):
    strategy = Strategy(a_detector(), StrategyOptions(rounds=3))
    strategy.show_again = lambda: a_step(0, labelled=1)

    assert strategy.learn(a_step(0, labelled=2)).trained_on == (2, 1, 1)


def test_a_bad_number_in_the_last_round_takes_back_all_rounds(a_detector, a_step):
    strategy = Strategy(a_detector(), StrategyOptions(rounds=3))
    before, plain = strategy.trained_state(), strategy.detector.loss
    rounds = iter([plain, plain, lambda *batch: {name: value * float("nan") for name, value in plain(*batch).items()}])
    strategy.detector.loss = lambda *batch: next(rounds)(*batch)

    learned = strategy.learn(a_step(0))

    assert next(rounds, None) is None
    assert learned.refused is not None
    assert learned.trained_on == ()
    assert same(strategy.trained_state(), before)


def test_no_round_at_all_is_refused():
    with pytest.raises(ValueError, match="rounds"):
        StrategyOptions(rounds=0)


def test_the_rate_is_the_detectors_times_a_factor(a_detector):
    plain = Strategy(a_detector(learning_rate=2e-4))
    faster = Strategy(a_detector(learning_rate=2e-4), StrategyOptions(rate_factor=3))

    assert [group["lr"] for group in plain.optimizer.param_groups] == [2e-4]
    assert [group["lr"] for group in faster.optimizer.param_groups] == pytest.approx([6e-4])
    with pytest.raises(ValueError, match="rate_factor"):
        StrategyOptions(rate_factor=0)
