"""The sums of pseudo labels: all, by known and new class, and over time; the same when a run goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from leocod.evaluation.results import CheckCounts, Counts, PseudoLabelPeriod
from leocod.events import Evaluated, Event, RunStarted
from leocod.run.record.pseudo_labels import PseudoLabelTally

# Of each of the two steps of the events.
ALL = {"frames": 3, "labels": 4, "right": 3, "objects": 6}
KNOWN = {"frames": 3, "labels": 3, "right": 3, "objects": 4}
NEW = {"frames": 3, "labels": 1, "right": 0, "objects": 2}


def told(tally: PseudoLabelTally, events: Iterable[Event]) -> dict[str, Any]:
    for event in events:
        tally(event)
    return tally.sum_up()


def twice(counts: dict[str, int]) -> Counts:
    return Counts.model_validate({name: 2 * count for name, count in counts.items()})


@pytest.fixture
def rarely(events: list[Event]) -> list[Event]:
    """An evaluation before the first step and one after the second."""
    kept = [event for event in events if not (isinstance(event, Evaluated) and event.step == 0)]
    return [kept[0], Evaluated(-1, {"mug": 0.5, "chair": 0.25, "dog": None}, 0.1, {}), *kept[1:]]


def test_pseudo_labels_are_divided_into_known_and_new_classes_and_into_periods(events: list[Event]) -> None:
    sums = told(PseudoLabelTally(), events)

    assert sums["pseudo_label_counts"] == twice(ALL)
    assert sums["pseudo_label_groups"] == {"known": twice(KNOWN), "new": twice(NEW)}
    assert sums["pseudo_label_periods"] == [
        PseudoLabelPeriod.model_validate(
            {"first_step": step, "last_step": step, "all": ALL, "known": KNOWN, "new": NEW}
        )
        for step in (0, 1)
    ]
    assert sums["pseudo_label_check"] == CheckCounts(labels=4, right=2)


def test_a_period_goes_from_one_evaluation_to_the_next(rarely: list[Event]) -> None:
    (period,) = told(PseudoLabelTally(), rarely)["pseudo_label_periods"]

    assert (period.first_step, period.last_step) == (0, 1)
    assert (period.all, period.known, period.new) == (twice(ALL), twice(KNOWN), twice(NEW))


def test_where_nobody_says_what_is_known_there_are_no_groups(events: list[Event]) -> None:
    started = events[0]
    assert isinstance(started, RunStarted)

    sums = told(PseudoLabelTally(), [replace(started, known_classes=None), *events[1:]])

    assert sums["pseudo_label_counts"] == twice(ALL)
    assert (sums["pseudo_label_groups"], sums["pseudo_label_periods"]) == ({}, [])


@pytest.mark.parametrize("place", range(1, 11))
def test_wherever_a_run_is_broken_off_the_sums_are_those_of_the_whole(place: int, rarely: list[Event]) -> None:
    before, after = PseudoLabelTally(), PseudoLabelTally()
    told(before, rarely[:place])

    after.load_state_dict(before.state_dict())

    assert told(after, [rarely[0], *rarely[place:]]) == told(PseudoLabelTally(), rarely)


def test_what_an_earlier_version_did_not_count_is_left_out(events: list[Event]) -> None:
    """Before classes were counted, and labelled frames asked about: the sum of all audits is whole, the rest is not."""
    after = PseudoLabelTally()

    after.load_state_dict({"audit": ALL})

    assert told(after, [events[0], *events[5:]]) == {
        "pseudo_label_counts": twice(ALL),
        "pseudo_label_groups": {},
        "pseudo_label_periods": [],
        "pseudo_label_check": None,
    }
    assert set(after.state_dict()) == {"audit"}
