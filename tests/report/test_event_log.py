"""Events are read as they were told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from leocod.errors import InvalidRun
from leocod.report.event_log import EventLog

MakeRun = Callable[..., Path]


def append(path: Path, event: dict[str, object]) -> None:
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps(event) + "\n")


def test_it_knows_when_there_were_evaluations(a_run: MakeRun) -> None:
    path = a_run()
    append(path, {"event": "Evaluated", "step": -1})

    assert EventLog.read(path).evaluated == {-1, 9, 19, 29, 39, 49, 59}


def test_it_knows_whether_frames_came_once(a_run: MakeRun) -> None:
    path = a_run()
    assert EventLog.read(path).single_pass

    first, *rest = (path / "events.jsonl").read_text().splitlines()
    again = json.dumps(json.loads(first) | {"single_pass": False})
    (path / "events.jsonl").write_text("\n".join([again, *rest]))
    assert not EventLog.read(path).single_pass


@pytest.mark.parametrize("step", [-2, 10**9, "last", None])
def test_an_evaluation_that_cannot_be_is_refused(a_run: MakeRun, step: object) -> None:
    path = a_run()
    append(path, {"event": "Evaluated", "step": step})

    with pytest.raises(InvalidRun, match=r"events\.jsonl cannot be read \(line 69: step: "):
        EventLog.read(path)


def test_events_that_it_does_not_know_are_left_alone(a_run: MakeRun) -> None:
    path = a_run()
    before = EventLog.read(path)
    append(path, {"event": "Scored", "step": 59, "scores": {"fap": 1.0}})

    assert EventLog.read(path) == before
