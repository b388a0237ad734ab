"""MIR: what is replayed is what the step has disturbed most."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.errors import InvalidConfig
from leocod.strategies.mir import MIR, MIROptions


def learn_some(strategy, a_step, steps=4):
    for index in range(steps):
        strategy.learn(a_step(index, labelled=4))
    return strategy


@pytest.fixture
def a_mir(a_detector, a_step):
    def make(**options):
        settings = {"candidates": 9, "replay_per_step": 2, "replay_per_class": 3, "memory_intake": "all", **options}
        return learn_some(MIR(a_detector(), MIROptions(**settings)), a_step)

    return make


def test_those_whose_loss_has_risen_most_are_replayed(a_mir, a_step, monkeypatch):
    strategy = a_mir()
    looked_at = []
    rise = iter([np.zeros(9), np.array([0, 5, 1, 0, 0, 7, 0, 0, 0.0])])

    def compute(pairs, seeds):
        looked_at.append([frame.id for frame, _ in pairs])
        return next(rise)

    monkeypatch.setattr(strategy, "_compute_losses", compute)
    _, replayed = strategy.batches(a_step(9))

    assert looked_at[0] == looked_at[1]
    assert len(set(looked_at[0])) == 9
    assert [frame.id for frame, _ in replayed.pairs] == [looked_at[0][5], looked_at[0][1]]


@pytest.mark.parametrize("recipe", ["released", "joint"])
def test_the_update_on_the_step_is_what_they_are_compared_by(a_mir, a_step, monkeypatch, recipe):
    strategy = a_mir(recipe=recipe)
    computed, compute = [], strategy._compute_losses

    def watch(pairs, seeds):
        computed.append(compute(pairs, seeds))
        return computed[-1]

    monkeypatch.setattr(strategy, "_compute_losses", watch)
    learned = strategy.learn(a_step(9))

    before, after = computed
    assert not np.array_equal(before, after)
    names = {name.partition("/")[0] for name in learned.losses}
    assert names == ({"current+replay"} if recipe == "joint" else {"current", "replay"})


def test_the_trial_of_the_joint_recipe_is_taken_back(a_mir, a_step):
    strategy = a_mir(recipe="joint")
    before = strategy.trained_state()["detector"]["weights"]

    next(strategy.batches(a_step(9)))

    after = strategy.trained_state()["detector"]["weights"]
    assert all((before[name] == after[name]).all() for name in before)


def test_the_loss_of_a_frame_does_not_depend_on_how_many_go_through_together(a_mir):
    strategy = a_mir()
    pairs = strategy._draw_candidates()
    at_once = strategy._compute_losses(pairs, range(len(pairs)))

    strategy.detector.frames_at_once = 2

    np.testing.assert_allclose(strategy._compute_losses(pairs, range(len(pairs))), at_once, rtol=1e-4)


def test_as_many_candidates_as_are_replayed_are_refused(a_detector):
    strategy = MIR(a_detector(), MIROptions(candidates=16))

    with pytest.raises(InvalidConfig, match="candidates is 16: it should be more than strategy.replay_per_step"):
        strategy.check(20)


def test_while_there_is_nothing_to_choose_what_is_there_repeats(a_detector, a_step):
    strategy = learn_some(MIR(a_detector(), MIROptions(replay_per_step=16)), a_step, steps=1)

    _, replayed = strategy.batches(a_step(1))

    assert len(replayed.pairs) == 16
    assert [batch.name for batch in strategy.batches(a_step(2, labelled=0))] == ["replay"]
