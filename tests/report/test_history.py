"""A run's history from what it has stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.evaluation.definitions import Definitions
from leocod.report.history import read_definitions, read_errors, read_history

MakeRun = Callable[..., Path]


def test_evaluations_without_detections_are_lost(a_run: MakeRun) -> None:
    history = read_history(a_run())

    assert (history.evaluated_steps, history.lost_steps) == ((59,), (9, 19, 29, 39, 49))
    assert history.measured == {"last evaluation"}
    assert history.table.shape == (1, 6)


def test_presence_is_that_of_the_events(a_run: MakeRun) -> None:
    history = read_history(a_run())

    assert history.in_stream.shape == (60, 6)
    assert np.flatnonzero(history.in_stream[:, 0]).tolist() == [*range(10), *range(30, 40)]
    assert (history.in_labels <= history.in_stream).all()
    assert history.in_labels.sum() < history.in_stream.sum()


def test_the_start_is_read_where_it_was_evaluated(a_run: MakeRun) -> None:
    path = a_run()
    (path / "detections" / "start.json").write_text("[]")
    # A file that no event tells of may be anything.
    assert read_history(path).start is None

    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "Evaluated", "step": -1}) + "\n")

    history = read_history(path)
    assert history.start is not None
    assert history.start.tolist()[:2] == [0.0, 0.0]
    assert 59 in history.evaluated_steps
    assert -1 not in history.evaluated_steps


def test_a_run_that_was_broken_off_has_a_history_too(a_run: MakeRun) -> None:
    path = a_run()
    whole = read_history(path)
    for name in ("results.json", "memory.json", "environment.json"):
        (path / name).unlink()

    np.testing.assert_array_equal(read_history(path).table, whole.table)


def test_definitions_are_those_of_the_config(a_run: MakeRun) -> None:
    path = a_run()
    assert read_definitions(path) == Definitions()

    (path / "config.yaml").write_text("evaluate: {every: 5, ap: voc, forgetting_bins: 3, metrics: [fap]}\n")

    assert read_definitions(path) == Definitions(ap="voc", forgetting_bins=3)
    assert read_history(path).definitions.ap == "voc"


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ("evaluate: {ap: pascal}", "ap: Input should be 'coco' or 'voc'"),
        ("evaluate: [ap]", "evaluate: it should have keys"),
        ("evaluate: {", "not valid YAML: line 1"),
        ("- 3", "must hold keys with values"),
    ],
)
def test_a_config_that_cannot_be_followed_is_refused(a_run: MakeRun, config: str, complaint: str) -> None:
    path = a_run()
    (path / "config.yaml").write_text(config)

    with pytest.raises(InvalidRun, match=rf"config\.yaml cannot be read \(.*{complaint}"):
        read_history(path)


def test_errors_are_those_of_the_last_evaluation(a_run: MakeRun) -> None:
    step, classes, counts = read_errors(a_run())

    assert (step, classes[0], counts.total["missed"]) == (59, "mug", 1)


def test_without_detections_there_are_no_errors_to_count(a_run: MakeRun) -> None:
    path = a_run()
    (path / "detections" / "step_00059.json").unlink()

    with pytest.raises(InvalidRun, match="has no detections of its last evaluation"):
        read_errors(path)


def test_files_of_different_runs_are_refused(a_run: MakeRun) -> None:
    path = a_run()
    (path / "test.json").write_text((path / "test.json").read_text().replace('"mug"', '"cup"'))

    with pytest.raises(InvalidRun, match=r"test\.json cannot be read \(other classes than events\.jsonl"):
        read_history(path)


def test_a_number_alone_does_not_fill_the_memory(a_run: MakeRun) -> None:
    path = a_run()
    with (path / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "Evaluated", "step": 50_000_000}) + "\n")

    with pytest.raises(InvalidRun, match="too many for the 60"):
        read_history(path)


def test_something_else_than_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match="is not a directory"):
        read_history(tmp_path / "nowhere")
