"""The annotation cost: how many frames a step, and the same ones for everybody."""

from __future__ import annotations

from itertools import pairwise

import pytest

from leocod.errors import InvalidConfig
from leocod.labelling.budget import BudgetLabeller
from leocod.labelling.fixed import FixedLabeller
from leocod.types import Labels


@pytest.fixture
def pairs(a_frame):
    return [a_frame(number) for number in range(16)]


@pytest.mark.parametrize("per_step", [0, 1, 2, 4, 8, 16])
def test_as_many_frames_as_the_budget(pairs, per_step):
    assert len(BudgetLabeller(per_step, seed=0).reveal(3, pairs)) == per_step


def test_the_choice_depends_on_seed_budget_and_step_alone(pairs):
    one, two = BudgetLabeller(4, seed=5), BudgetLabeller(4, seed=5)
    two.reveal(0, pairs)

    assert list(one.reveal(7, pairs)) == list(two.reveal(7, pairs))
    assert list(one.reveal(7, pairs)) != list(one.reveal(8, pairs))
    assert list(one.reveal(7, pairs)) != list(BudgetLabeller(4, seed=6).reveal(7, pairs))


def test_a_smaller_budget_is_drawn_independently(pairs):
    small, large = BudgetLabeller(2, seed=0), BudgetLabeller(4, seed=0)

    nested = [set(small.reveal(step, pairs)) <= set(large.reveal(step, pairs)) for step in range(20)]

    assert not all(nested)


def test_a_draw_stays_what_it_was_in_earlier_runs(pairs):
    drawn = {budget: list(BudgetLabeller(budget, seed=5).reveal(7, pairs)) for budget in (1, 2, 4)}

    assert drawn == {1: [10], 2: [5, 9], 4: [0, 2, 8, 12]}


def test_a_smaller_nested_budget_gets_a_part_of_a_larger_one(pairs):
    for step in range(20):
        drawn = [set(BudgetLabeller(k, seed=0, nested=True).reveal(step, pairs)) for k in (1, 2, 4, 8, 16)]

        assert [len(one) for one in drawn] == [1, 2, 4, 8, 16]
        assert all(small < large for small, large in pairwise(drawn))


def test_nested_draws_differ_by_seed_and_step(pairs):
    def drawn(seed, step):
        return list(BudgetLabeller(4, seed=seed, nested=True).reveal(step, pairs))

    assert drawn(0, 0) == drawn(0, 0)
    assert drawn(0, 0) != drawn(0, 1)
    assert drawn(0, 0) != drawn(1, 0)


def test_a_short_last_step_is_labelled_whole(pairs):
    assert len(BudgetLabeller(16, seed=0).reveal(0, pairs[:3])) == 3


def test_a_negative_budget_is_refused():
    with pytest.raises(InvalidConfig, match="per_step"):
        BudgetLabeller(-1, seed=0)


def test_frames_that_nobody_labelled_are_never_drawn(pairs):
    known = [(frame, labels if frame.id < 3 else Labels.unknown()) for frame, labels in pairs]

    for step in range(10):
        assert sorted(BudgetLabeller(4, seed=0).reveal(step, known)) == [0, 1, 2]


def test_a_frame_that_nobody_labelled_changes_nothing_for_the_others(pairs):
    whole = list(BudgetLabeller(4, seed=5).reveal(7, pairs))
    assert whole == [0, 2, 8, 12]

    known = [(frame, Labels.unknown() if frame.id == 8 else labels) for frame, labels in pairs]
    drawn = list(BudgetLabeller(4, seed=5).reveal(7, known))

    assert {0, 2, 12} < set(drawn)
    assert len(drawn) == 4


def test_a_fixed_choice_is_revealed_exactly(pairs):
    labeller = FixedLabeller(frozenset({3, 9, 99}), per_step=2)

    assert list(labeller.reveal(0, pairs)) == [3, 9]
    assert labeller.reveal(0, pairs)[3] is pairs[3][1]
    assert labeller.reveal(1, pairs[4:8]) == {}


def test_a_fixed_choice_does_not_reveal_what_nobody_knows(pairs):
    unknown = [(frame, Labels.unknown()) for frame, _ in pairs]

    assert FixedLabeller(frozenset({3}), per_step=1).reveal(0, unknown) == {}
