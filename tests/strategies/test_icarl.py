"""Balanced replay: what is drawn when, and how much of a step is kept."""

from __future__ import annotations

from leocod.strategies.base_replay import ReplayOptions
from leocod.strategies.icarl import ICaRL


def test_a_frame_is_never_replayed_in_the_step_it_arrives(a_detector, a_step):
    strategy = ICaRL(a_detector(), ReplayOptions(replay_per_step=4))
    replayed = []
    plain = strategy.update
    strategy.update = lambda batch: (
        (replayed.append([frame.id for frame, _ in batch.pairs]) if batch.name == "replay" else None) or plain(batch)
    )

    for index in range(3):
        strategy.learn(a_step(index, frames=4, labelled=2))

    assert len(replayed) == 2
    assert set(replayed[0]) == {0, 1}
    assert set(replayed[1]) <= {0, 1, 4, 5}


def test_the_released_recipe_stores_at_most_four_frames_of_a_step_and_joint_all(a_detector, a_step):
    for recipe, kept in (("released", 4), ("joint", 8)):
        strategy = ICaRL(a_detector(), ReplayOptions(recipe=recipe))

        strategy.learn(a_step(frames=8, labelled=8))

        assert len(strategy.memory) == kept


def test_with_nothing_labelled_it_still_replays(a_detector, a_step):
    strategy = ICaRL(a_detector())
    strategy.learn(a_step(0))

    losses = strategy.learn(a_step(1, labelled=0)).losses

    assert {name.split("/")[0] for name in losses} == {"replay"}
