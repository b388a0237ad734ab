"""A run directory is read as it was written, or the error names the file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.evaluation.definitions import Definitions
from leocod.files.run_directory import packed_path
from leocod.report.reading import Run, name_ap, name_last_seen

MakeRun = Callable[..., Path]


def test_table_and_presence_follow_the_class_list(a_run: MakeRun) -> None:
    run = Run.load(a_run())

    assert run.table.shape == (6, 6)
    assert np.isnan(run.table[:, 5]).all()
    assert run.table[-1, 0] == run.results.evaluations[-1].ap_by_class["mug"]
    assert run.evaluated_steps == [9, 19, 29, 39, 49, 59]
    assert run.presence.shape == (60, 6)
    # The made-up stream shows class c while (step + 7 c) mod 30 is below 10.
    assert np.flatnonzero(run.presence[:, 0]).tolist() == [*range(10), *range(30, 40)]


def test_presence_counts_as_the_metrics_of_the_run_say(a_run: MakeRun) -> None:
    usual, by_labels = Run.load(a_run("usual")), Run.load(a_run("by labels", definitions={"presence": "labelled"}))

    # The made-up person labels the first of the classes present: the laptop only where there is no mug.
    np.testing.assert_array_equal(usual.history.presence, usual.presence)
    np.testing.assert_array_equal(by_labels.presence, usual.presence)
    laptop = by_labels.presence[:, 1] & ~by_labels.presence[:, 0]
    np.testing.assert_array_equal(by_labels.history.presence[:, 1], laptop)


def test_a_run_from_before_there_was_a_choice_has_the_usual_metrics(a_run: MakeRun) -> None:
    run = Run.load(a_run())

    assert run.results.definitions == Definitions()
    assert run.results.labels_nested is False


def test_runs_by_different_metrics_are_called_by_both(a_run: MakeRun) -> None:
    choices = {"ap": "voc", "presence": "labelled"}
    usual, other = Run.load(a_run("usual")), Run.load(a_run("other", definitions=choices))

    assert [name_ap([usual]), name_ap([other, other])] == ["AP50", "VOC AP50"]
    assert name_ap([usual, other]) == "AP50 / VOC AP50"
    assert name_last_seen([usual, other]) == "in the training stream / in a label"


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
        ("events.jsonl", "{}\n", r"events\.jsonl cannot be read \(line 1: no event"),
        ("events.jsonl", "[1]\n", r"events\.jsonl cannot be read \(line 1: no event"),
        ("events.jsonl", '{"event": "Whispered"}\n', "no RunStarted"),
        ("events.jsonl", '{"event": "RunStarted", "classes": []}\n', r"\(line 1: classes: List should have at least 1"),
        ("events.jsonl", '{"event": "RunStarted", "classes": ["a", "a"]}\n', r"\(line 1: the class 'a' is there twice"),
        ("events.jsonl", '{"event": "RunStarted", "classes": ["a", 1]}\n', r"\(line 1: classes\.1: Input should be"),
        ("config.yaml", "a: &a [*a]", r"config\.yaml cannot be read \(line 1: \*a stands for"),
        ("config.yaml", "a: " + "[" * 9000, r"config\.yaml cannot be read \(line 1: more than"),
        ("environment.json", "[]", r"environment\.json cannot be read \(content: Input should be"),
        ("memory.json", "[" * 9000, r"memory\.json cannot be read \(more than 32 levels"),
        ("samples/samples.json", '[{"kind": "test"}]', r"samples\.json cannot be read \(0\.step: Field required"),
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
        InvalidRun, match=r"results\.json cannot be read \(definitions\.ap: Input should be 'coco' or 'voc'"
    ):
        Run.load(a_run(definitions={"ap": "pascal"}))


@pytest.mark.parametrize("seen", [{"present": [17], "labelled": []}, {"present": [], "labelled": [17]}])
def test_a_class_that_does_not_exist_is_refused(a_run: MakeRun, seen: dict[str, list[int]]) -> None:
    path = a_run()
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "StepLearned", "step": 3, "audit": None} | seen) + "\n")

    with pytest.raises(InvalidRun, match="class 17, but the run has 6 classes"):
        Run.load(path)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"step": -1}, r"line 63: step: Input should be greater"),
        ({"step": 10**9}, r"line 63: step: Input should be less"),
        ({"step": "first"}, r"line 63: step: Input should be a valid integer"),
        ({"present": [-1]}, r"line 63: present\.0: Input should be greater"),
        ({"present": 3}, r"line 63: present: Input should be a valid list"),
        ({"labelled": [None]}, r"line 63: labelled\.0: "),
        ({"audit": {"frames": 1}}, r"line 63: audit\.labels: Field required"),
        ({"audit": {"frames": 1, "labels": -1, "right": 0, "objects": 0}}, r"line 63: audit\.labels: "),
    ],
)
def test_a_step_that_cannot_be_is_named_by_its_line(a_run: MakeRun, changed: dict[str, object], complaint: str) -> None:
    path = a_run()
    step = {"event": "StepLearned", "step": 3, "present": [0], "labelled": [], "audit": None}
    lines = (path / "events.jsonl").read_text().splitlines()[:62]
    (path / "events.jsonl").write_text("\n".join([*lines, json.dumps(step | changed)]) + "\n")

    with pytest.raises(InvalidRun, match=rf"events\.jsonl cannot be read \({complaint}"):
        Run.load(path)


def test_classes_cannot_change_on_the_way(a_run: MakeRun) -> None:
    path = a_run()
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "RunStarted", "classes": ["mug"]}) + "\n")

    with pytest.raises(InvalidRun, match=r"events\.jsonl cannot be read \(line 69: other classes than before\)"):
        Run.load(path)


@pytest.mark.parametrize("where", ["results", "events", "evaluations"])
def test_a_number_alone_does_not_fill_the_memory(a_run: MakeRun, where: str) -> None:
    many = 50_000_000
    evaluation = {"step": many, "ap": 1.0, "ap_by_class": {"mug": 1.0}}
    changed = {"results": {"steps": many}, "evaluations": {"evaluations": [evaluation]}, "events": {}}
    path = a_run(**changed[where])
    if where == "events":
        with (path / "events.jsonl").open("a") as file:
            file.write(json.dumps({"event": "StepLearned", "step": many, "present": [], "labelled": []}) + "\n")

    with pytest.raises(InvalidRun, match=r"results\.json cannot be read \(steps: too many for the 6[01] that"):
        Run.load(path)


def test_a_run_that_was_killed_in_the_midst_of_a_line_is_read_up_to_there(a_run: MakeRun) -> None:
    path = a_run()
    whole = Run.load(path)
    with (path / "events.jsonl").open("a") as file:
        file.write('{"event": "StepLearned", "step": 5, "pres')

    assert Run.load(path) == whole


def test_events_that_were_packed_away_come_first(a_run: MakeRun) -> None:
    path = a_run()
    whole = Run.load(path)
    first, *lines = (path / "events.jsonl").read_text().splitlines(keepends=True)
    (path / "events").mkdir()
    for until, start, end in ((9, 0, 11), (99, 11, 40)):
        packed = packed_path(path / "events", until)
        packed.write_bytes(gzip.compress("".join([first, *lines[start:end]]).encode()))
    (path / "events.jsonl").write_text("".join([first, *lines[40:]]))

    assert Run.load(path) == whole
    assert list(Run.load(path).present) == list(range(60))


def test_names_that_cannot_be_shown_are_written_out_the_same_in_every_file(a_run: MakeRun) -> None:
    path = a_run()
    for name in ("results.json", "events.jsonl", "memory.json"):
        file = path / name
        file.write_text(file.read_text().replace('"mug"', r'"mu\u0000g"'))

    run = Run.load(path)

    assert run.classes[0] == r"mu\x00g"
    assert not np.isnan(run.table[:, 0]).any()
    assert run.memory is not None
    assert r"mu\x00g" in run.memory.by_class


@pytest.mark.parametrize("name", ["results.json", "events.jsonl", "config.yaml", "environment.json", "memory.json"])
def test_a_file_that_is_a_link_to_elsewhere_is_refused(a_run: MakeRun, tmp_path: Path, name: str) -> None:
    path = a_run()
    (path / name).rename(tmp_path / name)
    (path / name).symlink_to(tmp_path / name)

    with pytest.raises(InvalidRun, match=rf"{name} cannot be read \(it leads out of the run directory\)"):
        Run.load(path)


def test_something_else_than_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match="is not a directory"):
        Run.load(tmp_path / "nowhere")
