"""How many frames may be asked for, and what becomes of those that were not."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig
from leocod.labelling.base import LabellerOptions
from leocod.stream.budget import Budget


def a_budget(length=10, **options):
    return Budget(LabellerOptions(**{"per_step": None, **options}), length)


def test_a_budget_for_each_step_is_the_same_whatever_was_spent():
    budget = a_budget(per_step=3)
    budget.spend(1)

    assert [budget.allow(step, frames=16) for step in range(3)] == [3, 3, 3]


def test_a_total_is_earned_evenly_and_spent_whole():
    budget, spent = a_budget(length=7, total=10), []
    for step in range(7):
        spent.append(budget.allow(step, frames=16))
        budget.spend(spent[-1])

    assert sum(spent) == 10
    assert set(spent) == {1, 2}


def test_what_a_step_does_not_spend_carries_over():
    budget = a_budget(length=4, total=4)

    assert [budget.allow(step, frames=16) for step in range(3)] == [1, 2, 3]
    budget.spend(3)
    assert budget.allow(3, frames=16) == 1


def test_no_more_than_the_frames_of_a_step_may_be_asked_for():
    assert a_budget(length=1, total=100).allow(0, frames=5) == 5


def test_an_hour_earns_by_the_time_that_frames_take():
    budget = a_budget(length=None, per_hour=60, frames_per_second=0.5)

    # 16 frames of 2 seconds are 32 seconds.
    assert [budget.allow(step, frames=16) for step in range(4)] == [0, 1, 1, 2]
    budget.spend(2)
    assert [budget.allow(step, frames=16) for step in range(4)] == [0, 1, 1, 2]


def test_a_clock_counts_where_there_is_one():
    budget = Budget(LabellerOptions(per_step=None, per_hour=3600), None, has_clock=True)

    assert [budget.allow(step, frames=16, seconds=2.5) for step in range(2)] == [2, 5]


def test_a_total_of_a_stream_without_an_end_and_an_hour_without_a_clock_are_refused():
    with pytest.raises(InvalidConfig, match="labels.total: nobody knows how long the stream is"):
        a_budget(length=None, total=10)
    with pytest.raises(InvalidConfig, match="labels.per_hour: the stream has no clock. Set labels.frames_per_second"):
        a_budget(per_hour=10)


def test_it_goes_on_from_a_state():
    options = {"per_hour": 60, "frames_per_second": 0.5}
    one, two = a_budget(**options), a_budget(**options)
    for step in range(5):
        one.spend(one.allow(step, frames=16))

    two.load_state_dict(one.state_dict())

    assert [one.allow(step, frames=16) for step in (5, 6)] == [two.allow(step, frames=16) for step in (5, 6)]
