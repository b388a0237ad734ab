import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leocod.events import Event, StepFinished, StepLearned
from leocod.sinks.jsonl import JsonLines


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_event_is_a_line_with_its_name(events: list[Event], tmp_path: Path) -> None:
    with JsonLines(tmp_path / "events.jsonl") as sink:
        for event in events:
            sink(event)

    written = lines(tmp_path / "events.jsonl")
    told = [type(event).__name__ for event in events if not isinstance(event, StepFinished)]
    assert [line["event"] for line in written] == told
    assert written[0]["classes"] == ["mug", "chair", "dog"]
    assert written[1]["audit"] == {"frames": 3, "labels": 4, "right": 3, "objects": 6}
    assert written[2]["ap_by_class"] == {"mug": 0.5, "chair": 0.25, "dog": None}


def test_what_is_large_stays_out(events: list[Event], tmp_path: Path) -> None:
    with JsonLines(tmp_path / "events.jsonl") as sink:
        for event in events:
            sink(event)

    assert not {"detections", "pseudo"} & {key for line in lines(tmp_path / "events.jsonl") for key in line}


def test_every_line_is_on_disk_at_once(events: list[Event], tmp_path: Path) -> None:
    with JsonLines(tmp_path / "events.jsonl") as sink:
        sink(events[0])
        sink(events[1])

        assert len(lines(tmp_path / "events.jsonl")) == 2


def test_a_loss_that_ran_away_is_null(events: list[Event], tmp_path: Path) -> None:
    learned = events[1]
    assert isinstance(learned, StepLearned)

    with JsonLines(tmp_path / "events.jsonl") as sink:
        sink(replace(learned, losses={"current/region_class": float("nan")}))

    assert lines(tmp_path / "events.jsonl")[0]["losses"] == {"current/region_class": None}


def test_it_must_be_entered_first(events: list[Event], tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Enter the context first"):
        JsonLines(tmp_path / "events.jsonl")(events[0])
