from dataclasses import FrozenInstanceError, is_dataclass
from typing import Any, get_args

import pytest

from leocod.events import Evaluated, Event, PseudoLabelAudit, StepFinished


def test_an_event_cannot_be_changed() -> None:
    event: Any = StepFinished(3)

    with pytest.raises(FrozenInstanceError):
        event.step = 4


def test_every_kind_of_event_is_a_plain_record() -> None:
    assert len(get_args(Event)) == 10
    assert all(is_dataclass(kind) for kind in get_args(Event))


def test_audits_add_up() -> None:
    audits = [PseudoLabelAudit(1, 2, 1, 3), PseudoLabelAudit(2, 0, 0, 5)]

    assert PseudoLabelAudit.together(audits) == PseudoLabelAudit(3, 2, 1, 8)
    assert PseudoLabelAudit.together([]) == PseudoLabelAudit(0, 0, 0, 0)


def test_what_is_large_is_not_printed() -> None:
    assert "detections" not in repr(Evaluated(0, {"mug": 0.5}, 1.0, {}))
