"""The annotation cost: how many frames a step, and the same ones for everybody."""

from __future__ import annotations

from itertools import pairwise

import pytest
from pydantic import ValidationError

from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.types import Labels


def a_labeller(per_step, seed=0, **options):
    return RandomLabeller(RandomOptions(per_step=per_step, **options), seed=seed)


@pytest.mark.parametrize("per_step", [0, 1, 2, 4, 8, 16])
def test_as_many_frames_as_the_budget(pairs, per_step, request_for):
    assert len(a_labeller(per_step, seed=0).choose(request_for(3, pairs))) == per_step


def test_the_choice_depends_on_seed_budget_and_step_alone(pairs, request_for):
    one, two = a_labeller(4, seed=5), a_labeller(4, seed=5)
    two.choose(request_for(0, pairs))

    assert list(one.choose(request_for(7, pairs))) == list(two.choose(request_for(7, pairs)))
    assert list(one.choose(request_for(7, pairs))) != list(one.choose(request_for(8, pairs)))
    assert list(one.choose(request_for(7, pairs))) != list(a_labeller(4, seed=6).choose(request_for(7, pairs)))


def test_a_smaller_budget_is_drawn_independently(pairs, request_for):
    small, large = a_labeller(2, seed=0), a_labeller(4, seed=0)

    nested = [
        set(small.choose(request_for(step, pairs))) <= set(large.choose(request_for(step, pairs))) for step in range(20)
    ]

    assert not all(nested)


def test_a_draw_stays_what_it_was_in_earlier_runs(pairs, request_for):
    drawn = {budget: list(a_labeller(budget, seed=5).choose(request_for(7, pairs))) for budget in (1, 2, 4)}

    assert drawn == {1: [10], 2: [5, 9], 4: [0, 2, 8, 12]}


def test_a_smaller_nested_budget_gets_a_part_of_a_larger_one(pairs, request_for):
    for step in range(20):
        drawn = [set(a_labeller(k, seed=0, nested=True).choose(request_for(step, pairs))) for k in (1, 2, 4, 8, 16)]

        assert [len(one) for one in drawn] == [1, 2, 4, 8, 16]
        assert all(small < large for small, large in pairwise(drawn))


def test_nested_draws_differ_by_seed_and_step(pairs, request_for):
    def chosen(seed, step):
        return list(a_labeller(4, seed=seed, nested=True).choose(request_for(step, pairs)))

    assert chosen(0, 0) == chosen(0, 0)
    assert chosen(0, 0) != chosen(0, 1)
    assert chosen(0, 0) != chosen(1, 0)


def test_a_short_last_step_is_labelled_whole(pairs, request_for):
    assert len(a_labeller(16, seed=0).choose(request_for(0, pairs[:3]))) == 3


def test_a_negative_budget_is_refused():
    with pytest.raises(ValidationError, match="per_step"):
        RandomOptions(per_step=-1)


def test_frames_that_nobody_labelled_are_never_drawn(pairs, request_for):
    known = [(frame, labels if frame.id < 3 else Labels.unknown()) for frame, labels in pairs]

    for step in range(10):
        assert sorted(a_labeller(4, seed=0).choose(request_for(step, known))) == [0, 1, 2]


def test_a_frame_that_nobody_labelled_changes_nothing_for_the_others(pairs, request_for):
    whole = list(a_labeller(4, seed=5).choose(request_for(7, pairs)))
    assert whole == [0, 2, 8, 12]

    known = [(frame, Labels.unknown() if frame.id == 8 else labels) for frame, labels in pairs]
    drawn = list(a_labeller(4, seed=5).choose(request_for(7, known)))

    assert {0, 2, 12} < set(drawn)
    assert len(drawn) == 4
