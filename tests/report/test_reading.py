"""A run directory is read as it was written, or the error names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.evaluation.metrics import Metrics
from leocod.report.reading import Run, ap_name, last_seen

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


def test_presence_counts_as_the_metrics_of_the_run_say(a_run: MakeRun) -> None:
    usual, by_labels = Run.load(a_run("usual")), Run.load(a_run("by labels", metrics={"presence": "labelled"}))

    # The made-up person labels the first of the classes present: the laptop only where there is no mug.
    np.testing.assert_array_equal(usual.counted_presence, usual.presence)
    np.testing.assert_array_equal(by_labels.presence, usual.presence)
    laptop = by_labels.presence[:, 1] & ~by_labels.presence[:, 0]
    np.testing.assert_array_equal(by_labels.counted_presence[:, 1], laptop)


def test_a_run_from_before_there_was_a_choice_has_the_usual_metrics(a_run: MakeRun) -> None:
    run = Run.load(a_run())

    assert run.results.metrics == Metrics()
    assert run.results.labels_nested is False


def test_runs_by_different_metrics_are_called_by_both(a_run: MakeRun) -> None:
    choices = {"ap": "voc", "presence": "labelled"}
    usual, other = Run.load(a_run("usual")), Run.load(a_run("other", metrics=choices))

    assert [ap_name([usual]), ap_name([other, other])] == ["AP50", "VOC AP50"]
    assert ap_name([usual, other]) == "AP50 / VOC AP50"
    assert last_seen([usual, other]) == "in the training stream / in a label"


def test_a_step_told_twice_counts_as_told_last(a_run: MakeRun) -> None:
    path = a_run()
    again = {"event": "StepLearned", "step": 0, "present": [4, 5], "labelled": [4], "audit": None}
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps(again) + "\n\n")

    run = Run.load(path)

    assert (run.present[0], run.labelled[0]) == ((4, 5), (4,))
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


def test_figures_by_a_metric_that_does_not_exist_are_refused(a_run: MakeRun) -> None:
    with pytest.raises(
        InvalidRun, match=r"results\.json cannot be read \(metrics\.ap: Input should be 'coco' or 'voc'"
    ):
        Run.load(a_run(metrics={"ap": "pascal"}))


@pytest.mark.parametrize("seen", [{"present": [17], "labelled": []}, {"present": [], "labelled": [17]}])
def test_a_class_that_does_not_exist_is_refused(a_run: MakeRun, seen: dict[str, list[int]]) -> None:
    path = a_run()
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "StepLearned", "step": 3, "audit": None} | seen) + "\n")

    with pytest.raises(InvalidRun, match="class 17, but there are 6 classes"):
        Run.load(path)


def test_something_else_than_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match="is not a directory"):
        Run.load(tmp_path / "nowhere")
