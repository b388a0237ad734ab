"""The template: batches, shares and the four hooks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.errors import InvalidConfig
from leocod.memory.encoding import JPEG
from leocod.strategies.base import ReplayOptions, ReplayStrategy, Strategy, StrategyOptions
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


def test_more_replay_than_the_memory_can_hold_is_refused_with_the_range(a_detector):
    with pytest.raises(InvalidConfig, match=r"strategy\.replay_per_step is 40: it should be from 1 to 30,"):
        ReplayStrategy(a_detector(), ReplayOptions(replay_per_step=40, memory_per_class=12, replay_per_class=10)).check(
            3
        )
    with pytest.raises(InvalidConfig, match="it should be from 1 to 24,"):
        ReplayStrategy(
            a_detector(), ReplayOptions(replay_per_step=40, memory_per_class=8, memory_store="random")
        ).check(3)


def test_the_papers_sixteen_are_always_allowed_and_repeat(a_detector, a_step):
    strategy = ReplayStrategy(a_detector(), ReplayOptions(memory_per_class=1))
    strategy.learn(a_step(0))

    assert len(strategy.sample_replay()) == 16


def test_memory_options_reach_the_memory(a_detector, a_step):
    options = ReplayOptions(memory_per_class=2, memory_store="random", memory_replacement="first", recipe="joint")
    strategy = ReplayStrategy(a_detector(), options)

    for index in range(5):
        strategy.learn(a_step(index))

    assert [frame.id for frame, _ in strategy.memory.frames] == [0, 1, 4, 5, 8, 9]


def test_the_budget_in_bytes_and_the_encoding_reach_the_memory(a_detector, a_step):
    options = ReplayOptions(memory_per_class=None, memory_bytes=20_000, memory_encoding="jpeg", memory_jpeg_quality=40)
    strategy = ReplayStrategy(a_detector(), options)

    for index in range(6):
        strategy.learn(a_step(index))

    assert strategy.memory.encoding == JPEG(40)
    assert 0 < strategy.memory.bytes <= 20_000


def test_a_budget_smaller_than_a_frame_is_refused_at_the_first_step(a_detector, a_step):
    strategy = ReplayStrategy(a_detector(), ReplayOptions(memory_bytes=5000))

    with pytest.raises(InvalidConfig, match=r"takes 9240 bytes in the memory, but strategy\.memory_bytes is 5000"):
        strategy.learn(a_step(0))


def test_a_run_with_a_jpeg_memory_and_a_budget_in_bytes_goes_on_exactly(a_detector, a_step):
    options = ReplayOptions(memory_bytes=12_000, memory_encoding="jpeg", replay_per_step=4)
    one, two = ReplayStrategy(a_detector(), options), ReplayStrategy(a_detector(), options, seed=5)
    for index in range(3):
        one.learn(a_step(index))

    two.load_state_dict(one.state_dict())
    for strategy in (one, two):
        strategy.learn(a_step(3))

    assert same(one.state_dict(), two.state_dict())
    assert two.memory.bytes <= 12_000


def test_without_a_limit_in_frames_replay_is_bounded_by_what_a_class_may_give(a_detector):
    def check(**options):
        ReplayStrategy(a_detector(), ReplayOptions(memory_per_class=None, memory_bytes=10**6, **options)).check(10)

    check(replay_per_step=20)
    check(replay_per_step=500, memory_store="random")
    with pytest.raises(InvalidConfig, match="it should be from 1 to 20,"):
        check(replay_per_step=21)


def test_replay_per_class_bounds_what_one_class_contributes(a_detector, a_frame):
    strategy = ReplayStrategy(a_detector(), ReplayOptions(replay_per_step=4, replay_per_class=1))
    strategy.memory.add([a_frame(number, (number % 2,)) for number in range(6)])

    drawn = strategy.sample_replay()

    assert sorted(int(labels.classes[0]) for _, labels in drawn) == [0, 0, 1, 1]
    assert len({frame.id for frame, _ in drawn}) == 2


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


def test_a_step_that_is_refused_is_not_remembered(a_detector, a_step):
    strategy = ReplayStrategy(a_detector())
    strategy.detector.loss = lambda images, labels, seeds: {"one": torch.full((len(images),), float("nan"))}

    assert strategy.learn(a_step(0)).refused == "the loss current/one is nan"

    assert len(strategy.memory) == 0


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


def test_the_recipe_says_who_is_remembered_unless_it_is_set():
    assert (ReplayOptions().intake, ReplayOptions().replacement) == ("released", "released")
    joint = ReplayOptions(recipe="joint")
    assert (joint.intake, joint.replacement) == ("all", "reservoir")
    mixed = ReplayOptions(memory_intake="random", memory_replacement="reservoir")
    assert (mixed.intake, mixed.replacement) == ("random", "reservoir")


def test_what_may_be_remembered_has_no_pseudo_labels_whatever_the_strategy_asks_for(a_detector, a_step):
    class Keeps(ReplayStrategy):
        def remember(self, step):
            self.memory.add(step.labelled())

    strategy = Keeps(a_detector())
    step = a_step(labelled=4)
    mixed = replace(step, labels={**step.labels, 3: replace(step.labels[3], source="pseudo")})

    strategy.learn(mixed)

    assert sorted(frame.id for frame, _ in strategy.remembered_frames()) == [0, 1, 2]


def test_a_learner_tells_how_many_frames_each_update_had(a_detector, a_step):
    strategy = ReplayStrategy(a_detector(), ReplayOptions(replay_per_step=3))
    assert strategy.learn(a_step(0, labelled=2)).trained_on == (2,)
    assert strategy.learn(a_step(1, labelled=2)).trained_on == (2, 3)
