"""GDumb learns from its memory alone."""

from __future__ import annotations

import pytest

from leocod.memory.replacements.first import First
from leocod.memory.replacements.released import Released
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.strategies.gdumb import GDumb, GDumbOptions
from leocod.types import Labels


def watched(strategy):
    """The frames of every update, by the name of the batch."""
    trained = []
    plain = strategy.update
    strategy.update = lambda batch: trained.append((batch.name, list(batch.pairs))) or plain(batch)
    return trained


def test_it_never_trains_directly_on_the_labelled_frames_of_a_step(a_detector, a_step):
    strategy = GDumb(a_detector(), GDumbOptions(replay_per_step=4))
    trained = watched(strategy)

    for index in range(4):
        remembered = {frame.id for frame, _ in strategy.memory.frames}
        trained.clear()
        step = a_step(index)
        strategy.learn(step)

        used = {frame.id for _, pairs in trained for frame, _ in pairs}
        assert used <= remembered
        assert used.isdisjoint(frame.id for frame in step.frames)
        assert bool(used) == (index > 0)


@pytest.mark.parametrize(("recipe", "sizes"), [("released", [4, 4]), ("joint", [8])])
def test_it_trains_on_two_replay_batches(a_detector, a_step, recipe, sizes):
    strategy = GDumb(a_detector(), GDumbOptions(replay_per_step=4, recipe=recipe))
    strategy.learn(a_step(0))
    trained = watched(strategy)

    strategy.learn(a_step(1))

    assert [len(pairs) for _, pairs in trained] == sizes


def test_around_it_the_plug_in_adds_pseudo_labelled_frames_and_no_update(a_detector, a_step):
    strategy = GDumb(a_detector(), GDumbOptions(replay_per_step=4))
    learner = EfficientCLS(strategy, labeller=lambda frames, labelled: [Labels([[4, 4, 30, 30]], [1]) for _ in frames])
    learner.learn(a_step(0))
    trained = watched(strategy)

    learner.learn(a_step(1, frames=4, labelled=2))

    (_, first), (_, second) = trained
    assert {frame.id for frame, labels in first if labels.source == "pseudo"} == {6, 7}
    assert [len(first), len(second)] == [2 + 4, 4]
    assert {labels.source for _, labels in second} == {"human"}
    assert {frame.id for frame, labels in [*first, *second] if labels.source == "human"} <= {0, 1}


def test_its_memory_changes_unless_it_is_told_otherwise(a_detector):
    assert isinstance(GDumb(a_detector()).memory.replacement, Released)
    assert isinstance(GDumb(a_detector(), GDumbOptions(memory_replacement="first")).memory.replacement, First)
