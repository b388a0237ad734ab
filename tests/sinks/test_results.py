import json
from pathlib import Path
from typing import Any

import pytest

from leocod.events import Event, RunFinished, RunStarted
from leocod.labelling import BudgetLabeller
from leocod.sinks.labels import LabelRecord
from leocod.sinks.results import ResultsFile

ABOUT = {"benchmark": "wander", "strategy": "icarl"}


def results(events: list[Event], folder: Path, *, single_pass: bool = True) -> dict[str, Any]:
    record = LabelRecord(BudgetLabeller(1, seed=0))
    record.frames = {0: [3], 1: [21]}
    with ResultsFile(folder / "results.json", ABOUT, record, single_pass=single_pass) as sink:
        for event in events:
            sink(event)
    content: dict[str, Any] = json.loads((folder / "results.json").read_text())
    assert content == sink.content
    return content


def test_figures_are_in_points(events: list[Event], tmp_path: Path) -> None:
    content = results(events, tmp_path)

    assert content["fap"] == pytest.approx(50.0)
    assert content["cap"] == pytest.approx((37.5 + 50.0) / 2)
    assert [one["step"] for one in content["evaluations"]] == [0, 1]
    assert content["evaluations"][0]["ap50"] == pytest.approx(37.5)
    assert content["evaluations"][0]["ap50_by_class"] == {"mug": 50.0, "chair": 25.0, "dog": None}


def test_forgetfulness_is_of_the_classes_that_stayed_away(events: list[Event], tmp_path: Path) -> None:
    # The mug was away for a step and fell from 50 to 25; the chair was always there.
    assert results(events, tmp_path)["forgetfulness"] == pytest.approx(25.0)


def test_without_a_single_pass_there_is_no_forgetfulness(events: list[Event], tmp_path: Path) -> None:
    assert results(events, tmp_path, single_pass=False)["forgetfulness"] is None


def test_times_labels_and_memory_are_added_up(events: list[Event], tmp_path: Path) -> None:
    content = results(events, tmp_path)

    assert content["seconds"] == 4.0
    assert content["seconds_by_part"] == {"stream": 0.5, "train": 1.0, "evaluate": 0.25}
    assert content["labelled_frames"] == 2
    assert content["memory_bytes"] == 2000
    assert (content["benchmark"], content["steps"]) == ("wander", 2)


def test_an_undefined_figure_is_null(tmp_path: Path) -> None:
    content = results([RunStarted("a run", ("mug",), 1, 0), RunFinished(1, 0.5)], tmp_path)

    assert (content["fap"], content["cap"], content["forgetfulness"]) == (None, None, None)
