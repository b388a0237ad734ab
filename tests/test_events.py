from dataclasses import FrozenInstanceError, is_dataclass, replace
from typing import Any, get_args

import pytest

from leocod.events import ClassCounts, Evaluated, Event, PseudoLabelAudit, RunStarted, StepFinished


def test_an_event_cannot_be_changed() -> None:
    event: Any = StepFinished(3)

    with pytest.raises(FrozenInstanceError):
        event.step = 4


def test_every_kind_of_event_is_a_plain_record() -> None:
    assert len(get_args(Event)) == 10
    assert all(is_dataclass(kind) for kind in get_args(Event))


def test_audits_add_up() -> None:
    audits = [
        PseudoLabelAudit(1, 2, 1, 3, {0: ClassCounts(2, 1, 3)}),
        PseudoLabelAudit(2, 1, 0, 5, {0: ClassCounts(0, 0, 4), 7: ClassCounts(1, 0, 1)}),
    ]

    assert PseudoLabelAudit.together(audits) == PseudoLabelAudit(
        *(3, 3, 1, 8), {0: ClassCounts(2, 1, 7), 7: ClassCounts(1, 0, 1)}
    )
    assert PseudoLabelAudit.together([]) == PseudoLabelAudit(0, 0, 0, 0, {})


def test_audits_of_which_one_is_not_by_class_add_up_to_one_that_is_not() -> None:
    audits = [PseudoLabelAudit(1, 2, 1, 3, {0: ClassCounts(2, 1, 3)}), PseudoLabelAudit(2, 0, 0, 5)]

    assert PseudoLabelAudit.together(audits) == PseudoLabelAudit(3, 2, 1, 8, None)


def test_an_audit_of_some_classes_has_all_frames() -> None:
    audit = PseudoLabelAudit(4, 3, 1, 8, {0: ClassCounts(2, 1, 7), 7: ClassCounts(1, 0, 1)})

    assert audit.select({7, 9}) == PseudoLabelAudit(4, 1, 0, 1, {7: ClassCounts(1, 0, 1)})
    assert audit.select(()) == PseudoLabelAudit(4, 0, 0, 0, {})
    assert PseudoLabelAudit(4, 3, 1, 8).select({7}) is None


def test_classes_are_grouped_only_where_somebody_says_what_is_known() -> None:
    started = RunStarted("a run", ("mug", "dog", "cat"), 9, 0, known_classes=("dog", "not of this run"))

    assert started.groups == {"known": {1}, "new": {0, 2}}
    assert replace(started, known_classes=()).groups == {"known": set(), "new": {0, 1, 2}}
    assert replace(started, known_classes=None).groups == {}


def test_what_is_large_is_not_printed() -> None:
    assert "detections" not in repr(Evaluated(0, {"mug": 0.5}, 1.0, {}))
