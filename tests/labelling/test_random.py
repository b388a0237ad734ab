"""The paper's choice: at random, and the same frames for everybody."""

from __future__ import annotations

from itertools import pairwise

import pytest
from pydantic import ValidationError

from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.types import Labels


@pytest.fixture
def draw(request_for):
    """The frames that are drawn at a step."""

    def choose(per_step, step, pairs, seed=0, **options):
        labeller = RandomLabeller(RandomOptions(per_step=per_step, **options), seed=seed)
        return list(labeller.choose(request_for(step, pairs, per_step)))

    return choose


@pytest.mark.parametrize("per_step", [0, 1, 2, 4, 8, 16])
def test_as_many_frames_as_the_budget(pairs, per_step, draw):
    assert len(draw(per_step, 3, pairs)) == per_step


def test_the_choice_depends_on_seed_budget_and_step_alone(pairs, request_for):
    one, two = (RandomLabeller(RandomOptions(per_step=4), seed=5) for _ in range(2))
    two.choose(request_for(0, pairs))

    assert list(one.choose(request_for(7, pairs))) == list(two.choose(request_for(7, pairs)))


def test_another_step_or_seed_draws_other_frames(pairs, draw):
    assert draw(4, 7, pairs, seed=5) != draw(4, 8, pairs, seed=5)
    assert draw(4, 7, pairs, seed=5) != draw(4, 7, pairs, seed=6)


def test_a_smaller_budget_is_drawn_independently(pairs, draw):
    assert not all(set(draw(2, step, pairs)) <= set(draw(4, step, pairs)) for step in range(20))


def test_a_draw_stays_what_it_was_in_earlier_runs(pairs, draw):
    drawn = {budget: draw(budget, 7, pairs, seed=5) for budget in (1, 2, 4)}

    assert drawn == {1: [10], 2: [5, 9], 4: [0, 2, 8, 12]}


def test_a_smaller_nested_budget_gets_a_part_of_a_larger_one(pairs, draw):
    for step in range(20):
        drawn = [set(draw(budget, step, pairs, nested=True)) for budget in (1, 2, 4, 8, 16)]

        assert [len(one) for one in drawn] == [1, 2, 4, 8, 16]
        assert all(small < large for small, large in pairwise(drawn))


def test_nested_draws_differ_by_seed_and_step(pairs, draw):
    assert draw(4, 0, pairs, nested=True) == draw(4, 0, pairs, nested=True)
    assert draw(4, 0, pairs, nested=True) != draw(4, 1, pairs, nested=True)
    assert draw(4, 0, pairs, nested=True) != draw(4, 0, pairs, seed=1, nested=True)


def test_under_a_budget_that_carries_over_a_step_draws_what_it_may(pairs, request_for):
    labeller = RandomLabeller(RandomOptions(per_step=None, total=100), seed=5)

    drawn = [set(labeller.choose(request_for(7, pairs, most))) for most in (0, 1, 3)]

    assert [len(one) for one in drawn] == [0, 1, 3]
    assert drawn[1] < drawn[2]


def test_a_short_last_step_is_labelled_whole(pairs, draw):
    assert len(draw(16, 0, pairs[:3])) == 3


def test_a_negative_budget_is_refused():
    with pytest.raises(ValidationError, match="per_step"):
        RandomOptions(per_step=-1)


def test_frames_that_nobody_labelled_are_never_drawn(pairs, draw):
    known = [(frame, labels if frame.id < 3 else Labels.unknown()) for frame, labels in pairs]

    for step in range(10):
        assert sorted(draw(4, step, known)) == [0, 1, 2]


def test_a_frame_that_nobody_labelled_changes_nothing_for_the_others(pairs, draw):
    whole = draw(4, 7, pairs, seed=5)
    assert whole == [0, 2, 8, 12]

    known = [(frame, Labels.unknown() if frame.id == 8 else labels) for frame, labels in pairs]
    drawn = draw(4, 7, known, seed=5)

    assert {0, 2, 12} < set(drawn)
    assert len(drawn) == 4
