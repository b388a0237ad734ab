import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from leocod.evaluation.metrics import Metrics
from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepFinished, StepLearned, Warned
from leocod.run.record.labels import LabelRecord
from leocod.run.record.results import ResultsFile
from leocod.types import Detections, Labels

ABOUT = {"benchmark": "wander", "strategy": "icarl"}


def a_file(folder: Path, metrics: Metrics | None = None, *, single_pass: bool = True) -> ResultsFile:
    """Of a run in which two frames were labelled."""
    record = LabelRecord(folder / "labels.json", {})
    for step, frame in enumerate((3, 21)):
        record.add(step, [frame])
    return ResultsFile(folder / "results.json", ABOUT, record, metrics or Metrics(), single_pass=single_pass)


def results(
    events: list[Event], folder: Path, metrics: Metrics | None = None, *, single_pass: bool = True
) -> dict[str, Any]:
    with a_file(folder, metrics, single_pass=single_pass) as sink:
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


def seen(step: int, *, present: bool, labelled: bool) -> StepLearned:
    """One class, a mug, in the frames or not, in the labels or not."""
    return StepLearned(step, {}, (), (0,) * present, (0,) * labelled, audit=None, memory_bytes=0, seconds={})


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        # In frames at 0 and 2, in labels at 0 only. By frames k = 0, 1, 0, 1: a mean of 60 falls to one of 30.
        ({}, 30.0),
        # By labels k = 0, 1, 2, 3, of which 0, 30, 20, 50 are lost; weights 0, 1/6, 2/6, 3/6.
        ({"presence": "labelled"}, (30 + 2 * 20 + 3 * 50) / 6),
        # In two bins of width 1.5, centres 0.75 and 2.25: 55 falls to 35. OAK's weights: 1/4 and 3/4.
        ({"presence": "labelled", "forgetting_bins": 2}, 20.0),
        ({"presence": "labelled", "forgetting_bins": 2, "forgetting_weights": "oak"}, 15.0),
    ],
)
def test_forgetfulness_is_the_one_that_was_chosen(choices: dict[str, Any], expected: float, tmp_path: Path) -> None:
    events: list[Event] = [RunStarted("a run", ("mug",), steps=4, first_step=0)]
    for step, ap in enumerate((0.7, 0.4, 0.5, 0.2)):
        events += [seen(step, present=step % 2 == 0, labelled=step == 0), Evaluated(step, {"mug": ap}, 0.1, {})]

    content = results([*events, RunFinished(4, 1.0)], tmp_path, Metrics(**choices))

    assert content["forgetfulness"] == pytest.approx(expected)
    assert content["metrics"] == Metrics(**choices).model_dump()


def test_without_a_single_pass_there_is_no_forgetfulness(events: list[Event], tmp_path: Path) -> None:
    assert results(events, tmp_path, single_pass=False)["forgetfulness"] is None


def test_times_labels_and_memory_are_added_up(events: list[Event], tmp_path: Path) -> None:
    content = results(events, tmp_path)

    assert content["seconds"] == 4.0
    assert content["seconds_by_part"] == {"stream": 0.5, "train": 1.0, "evaluate": 0.25}
    assert content["labelled_frames"] == 2
    assert content["memory_bytes"] == 2000
    assert (content["benchmark"], content["steps"]) == ("wander", 2)


def test_a_frame_that_is_left_out_twice_is_one(tmp_path: Path) -> None:
    steps = [StepLearned(step, {}, (), (), (), None, 0, {}, skipped={7: "broken"}) for step in range(2)]

    content = results([RunStarted("a run", ("mug",), 2, 0), *steps, RunFinished(2, 0.5)], tmp_path)

    assert content["skipped_frames"] == 1


def test_an_undefined_figure_is_null(tmp_path: Path) -> None:
    content = results(
        [RunStarted("a run", ("mug",), 1, 0), seen(0, present=True, labelled=True), RunFinished(1, 0.5)], tmp_path
    )

    assert (content["fap"], content["cap"], content["forgetfulness"]) == (None, None, None)


def test_steps_that_were_refused_and_warnings_are_counted(tmp_path: Path) -> None:
    good, bad = (StepLearned(step, {}, (), (), (), None, 0, {}, refused=why) for step, why in ((0, None), (1, "nan")))

    content = results(
        [RunStarted("a run", ("mug",), 2, 0), good, Warned(0, "odd"), Warned(0, "odder"), bad, RunFinished(2, 0.5)],
        tmp_path,
    )

    assert (content["refused_steps"], content["warnings"]) == (1, 2)


def test_gone_on_from_a_state_the_figures_are_those_of_the_whole_run(events: list[Event], tmp_path: Path) -> None:
    odd = StepLearned(0, {}, (), (0,), (), None, 10, {"train": 2.0}, skipped={7: "broken"}, refused="nan")
    begun: list[Event] = [events[0], odd, Warned(0, "odd"), *events[3:5]]
    rest = [event for event in events[5:] if not isinstance(event, RunFinished)]
    whole = results([*begun, *rest, RunFinished(2, 3.5)], tmp_path)
    first, second = a_file(tmp_path), a_file(tmp_path)
    for event in begun:
        first(event)

    second.load_state_dict(first.state_dict())
    # Its clock begins at zero again: 2 of the 3.5 seconds are its own.
    for event in [replace(begun[0], first_step=1), *rest, RunFinished(2, 2.0)]:
        second(event)

    assert json.loads((tmp_path / "results.json").read_text()) == whole
    assert (whole["seconds"], whole["warnings"], whole["refused_steps"], whole["skipped_frames"]) == (3.5, 1, 1, 1)


def test_a_state_is_not_changed_by_later_events(events: list[Event], tmp_path: Path) -> None:
    sink = a_file(tmp_path)
    for event in events[:5]:
        sink(event)
    state = sink.state_dict()
    kept = copy.deepcopy(state)

    for event in events[5:]:
        sink(event)

    assert torch.equal(state.pop("seen"), kept.pop("seen"))
    assert state == kept


def test_what_it_keeps_does_not_grow_with_what_is_found(
    tmp_path: Path, reachable: Callable[[object], list[object]]
) -> None:
    sink = a_file(tmp_path)
    found = Detections(np.zeros((9, 4), np.float32), np.zeros(9, np.int64), np.zeros(9, np.float32))
    sink(RunStarted("a run", tuple("abcdefgh"), 50, 0))

    for step in range(50):
        sink(
            StepLearned(
                step, {"loss": 1.0}, (step,), (1,), (1,), None, 0, {}, pseudo={step: Labels([[0, 0, 1, 1]], [0])}
            )
        )
        sink(Evaluated(step, dict.fromkeys("abcdefgh", 0.5), 0.1, {step: found}))
        sink(StepFinished(step))

    assert not any(isinstance(one, Detections | Labels | StepLearned) for one in reachable(sink))
    assert len(sink.state_dict()["seen"]) == 50


def test_a_run_whose_source_never_began_has_results_too(tmp_path: Path) -> None:
    content = results([RunStarted("a run", ("mug",), 1, 0), Warned(0, "no more"), RunFinished(0, 0.5)], tmp_path)

    assert (content["steps"], content["fap"], content["warnings"]) == (0, None, 1)
