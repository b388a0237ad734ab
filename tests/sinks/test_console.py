import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from leocod.events import Evaluated, Event
from leocod.sinks.console import ConsoleProgress, results_table

RESULTS: dict[str, Any] = {
    "benchmark": "wander",
    "strategy": "icarl",
    "efficient_cls": True,
    "ema": True,
    "pseudo_labels": True,
    "labels_per_step": 4,
    "labels_nested": False,
    "metrics": {"ap": "coco", "forgetting_bins": None, "forgetting_weights": "paper", "presence": "stream"},
    "diagnosis": None,
    "fap": 41.27,
    "cap": 30.0,
    "forgetfulness": None,
    "labelled_frames": 480,
    "skipped_frames": 0,
    "skipped_test_frames": 0,
    "memory_bytes": 3_400_000,
    "seconds": 61.2,
    "steps": 120,
}


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=120, force_terminal=False)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_evaluations_and_the_end_of_the_bar_are_shown(events: list[Event], console: Console) -> None:
    with ConsoleProgress(console) as sink:
        for event in events:
            sink(event)

    assert "a run: 2 steps, 3 classes" in shown(console)
    assert "step 1: AP50 37.5 on 1 test frames" in shown(console)
    assert "2/2" in shown(console)
    assert "AP50 50.0" in shown(console)
    assert "2 labels" in shown(console)


def test_the_table_has_the_headline_figures(console: Console) -> None:
    console.print(results_table(RESULTS))

    assert "wander, icarl with Efficient-CLS, 4 labelled frames a step" in shown(console)
    assert "FAP, AP50 at the end" in shown(console)
    assert "F, forgetfulness  " in shown(console)
    assert "41.3" in shown(console)
    assert "–" in shown(console)
    assert "Diagnosis" not in shown(console)
    assert "left out" not in shown(console)


def test_frames_that_were_left_out_are_counted(console: Console) -> None:
    console.print(results_table(RESULTS | {"skipped_frames": 3, "skipped_test_frames": 1}))

    assert "frames left out, unusable │ 3 of the stream, 1 of the test" in shown(console)


def test_another_metric_is_named_beside_its_figure(events: list[Event], console: Console) -> None:
    with ConsoleProgress(console) as sink:
        for event in events:
            sink(replace(event, ap_name="VOC AP50") if isinstance(event, Evaluated) else event)
    console.print(results_table(RESULTS | {"metrics": {"ap": "voc", "forgetting_bins": 4, "presence": "labelled"}}))

    assert "step 1: VOC AP50 37.5 on 1 test frames" in shown(console)
    assert "FAP, VOC AP50 at the end" in shown(console)
    assert "CAP, VOC AP50 over the run" in shown(console)
    assert "F, forgetfulness (4 bins, labelled presence)" in shown(console)


def test_nested_labels_are_named(console: Console) -> None:
    console.print(results_table(RESULTS | {"labels_nested": True}))

    assert "4 labelled frames a step (nested)" in shown(console)


def test_a_diagnosis_is_named(console: Console) -> None:
    console.print(results_table(RESULTS | {"diagnosis": "true boxes as pseudo labels"}))

    assert "Diagnosis: true boxes as pseudo labels. Not a result of the method." in shown(console)
