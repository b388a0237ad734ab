"""What is remembered, what is replayed, and what the options of both allow."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from leocod.conformance.rules import find_difference
from leocod.errors import InvalidConfig
from leocod.memory.encoding import JPEG
from leocod.strategies.base_replay import ReplayOptions, ReplayStrategy


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

    assert find_difference(one.state_dict(), two.state_dict()) is None
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


def test_a_step_that_is_refused_is_not_remembered(a_detector, a_step):
    strategy = ReplayStrategy(a_detector())
    strategy.detector.loss = lambda images, labels, seeds: {"one": torch.full((len(images),), float("nan"))}

    assert strategy.learn(a_step(0)).refused == "the loss current/one is nan"

    assert len(strategy.memory) == 0


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


def test_each_round_draws_its_own_frames_and_none_of_its_step(a_detector, a_step):
    strategy = ReplayStrategy(a_detector(), ReplayOptions(replay_per_step=3, rounds=4, recipe="joint"))
    for index in range(4):
        strategy.learn(a_step(index, labelled=4))
    drawn, plain = [], strategy.sample_replay
    strategy.sample_replay = lambda: drawn.append(plain()) or drawn[-1]

    strategy.learn(a_step(4, labelled=4))

    ids = [tuple(frame.id for frame, _ in pairs) for pairs in drawn]
    assert len(ids) == 4
    assert len(set(ids)) > 1
    assert not {number for round_ids in ids for number in round_ids} & {frame.id for frame in a_step(4).frames}
