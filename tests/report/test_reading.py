"""A run directory is read as it was written, or the error names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def test_table_and_presence_follow_the_class_list(a_run: MakeRun) -> None:
    run = Run.load(a_run())

    assert run.table.shape == (6, 6)
    assert np.isnan(run.table[:, 5]).all()
    assert run.table[-1, 0] == run.results.evaluations[-1].ap50_by_class["mug"]
    assert run.evaluated_steps == [9, 19, 29, 39, 49, 59]
    assert run.presence.shape == (60, 6)
    # The made-up stream shows class c while (step + 7 c) mod 30 is below 10.
    assert np.flatnonzero(run.presence[:, 0]).tolist() == [*range(10), *range(30, 40)]


def test_a_step_told_twice_counts_as_told_last(a_run: MakeRun) -> None:
    path = a_run()
    again = {"event": "StepLearned", "step": 0, "present": [4], "audit": None}
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps(again) + "\n\n")

    run = Run.load(path)

    assert run.present[0] == (4,)
    assert 0 not in run.audits


def test_the_command_can_be_pasted(a_run: MakeRun) -> None:
    path = a_run()
    environment = path / "environment.json"

    assert Run.load(path).command == "leocod run 'my config.yaml'"
    environment.write_text(json.dumps({"command_line": "leocod run quickstart"}))
    assert Run.load(path).command == "leocod run quickstart"
    environment.write_text("{}")
    assert Run.load(path).command is None


def test_optional_files_may_be_missing(a_run: MakeRun) -> None:
    path = a_run(memory=False)
    (path / "environment.json").unlink()
    (path / "samples" / "samples.json").unlink()

    run = Run.load(path)

    assert (run.memory, run.samples, dict(run.environment)) == (None, (), {})


@pytest.mark.parametrize("name", ["results.json", "events.jsonl", "config.yaml"])
def test_a_missing_file_is_named_with_the_cure(a_run: MakeRun, name: str) -> None:
    path = a_run()
    (path / name).unlink()

    with pytest.raises(InvalidRun, match=rf"{name} is missing\. Give the directory of a run that has finished"):
        Run.load(path)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("results.json", "{\n", r"results\.json cannot be read \(line 2"),
        ("results.json", "{}", r"results\.json cannot be read \(benchmark: Field required"),
        ("events.jsonl", "{}\n", r"events\.jsonl cannot be read \(line 1: KeyError 'event'"),
        ("events.jsonl", "", "no RunStarted"),
        ("config.yaml", "a: [", r"config\.yaml cannot be read"),
        ("memory.json", '{"bytes": "many"}', r"memory\.json cannot be read \(bytes"),
    ],
)
def test_a_damaged_file_is_named_with_the_place(a_run: MakeRun, name: str, content: str, complaint: str) -> None:
    path = a_run()
    (path / name).write_text(content)

    with pytest.raises(InvalidRun, match=complaint):
        Run.load(path)


def test_a_class_that_does_not_exist_is_refused(a_run: MakeRun) -> None:
    path = a_run()
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "StepLearned", "step": 3, "present": [17], "audit": None}) + "\n")

    with pytest.raises(InvalidRun, match="class 17, but there are 6 classes"):
        Run.load(path)


def test_something_else_than_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match="is not a directory"):
        Run.load(tmp_path / "nowhere")
