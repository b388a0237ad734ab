import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import find_metrics, list_shipped
from leocod.evaluation.results import Results
from leocod.events import (
    Evaluated,
    Event,
    RunFinished,
    RunStarted,
    Scored,
    StepFinished,
    StepLearned,
    StepTested,
    Warned,
)
from leocod.run.record.detections import PrequentialFile
from leocod.run.record.results import ResultsFile, add_scores
from leocod.types import Detections, Labels

ABOUT = {
    "benchmark": "wander",
    "detector": "tiny",
    "strategy": "icarl",
    "efficient_cls": True,
    "ema": True,
    "pseudo_labels": True,
    "labels_per_step": 1,
    "seed": 0,
}


def a_file(
    folder: Path, definitions: Definitions | None = None, *, single_pass: bool = True, ram: int | None = 700
) -> ResultsFile:
    """Of a run in which two frames were labelled, in a process that held at most so many bytes of RAM."""
    labels = SimpleNamespace(count=2, boxes=5, seconds=41.0)
    metrics = find_metrics(list_shipped())
    definitions = definitions or Definitions()
    return ResultsFile(
        *(folder / "results.json", ABOUT, labels, definitions, metrics),
        single_pass=single_pass,
        measure_ram=lambda: ram,
    )


def results(
    events: list[Event], folder: Path, definitions: Definitions | None = None, *, single_pass: bool = True
) -> Results:
    with a_file(folder, definitions, single_pass=single_pass) as sink:
        for event in events:
            sink(event)
    content = Results.model_validate(json.loads((folder / "results.json").read_text()))
    assert content == sink.content
    return content


def test_figures_are_in_points(events: list[Event], tmp_path: Path) -> None:
    content = results(events, tmp_path)

    assert content.scores["fap"] == pytest.approx(50.0)
    assert content.scores["cap"] == pytest.approx((37.5 + 50.0) / 2)
    assert [one.step for one in content.evaluations] == [0, 1]
    assert content.evaluations[0].ap == pytest.approx(37.5)
    assert content.evaluations[0].ap_by_class == {"mug": 50.0, "chair": 25.0, "dog": None}


def test_every_score_has_the_words_to_show_it_and_what_was_not_measured_is_left_out(
    events: list[Event], tmp_path: Path
) -> None:
    content = results(events, tmp_path)

    assert list(content.scores) == list(content.metrics) == ["fap", "cap", "forgetting", "bwt"]
    assert content.metrics["fap"].title == "mean AP50 at the end"
    assert content.metrics["forgetting"].direction == "lower"


def test_an_evaluation_before_the_first_step_is_the_start(events: list[Event], tmp_path: Path) -> None:
    start = Evaluated(-1, {"mug": 0.1, "chair": 0.2, "dog": None}, 0.1, {})

    content = results([events[0], start, *events[1:]], tmp_path)

    assert content.start is not None
    assert content.start.ap_by_class == {"mug": 10.0, "chair": 20.0, "dog": None}
    assert [one.step for one in content.evaluations] == [0, 1]
    assert content.scores["cap"] == pytest.approx((37.5 + 50.0) / 2)
    # All classes that come are there from the first step on.
    assert content.scores["fwt"] is None


def test_what_was_found_before_each_step_becomes_the_prequential_score(events: list[Event], tmp_path: Path) -> None:
    box = np.array([[0, 0, 9, 9]], np.float32)
    truth = {1: Labels(box, np.array([0])), 2: Labels(box, np.array([1]))}
    found = {1: Detections(box, np.array([0]), np.array([0.9], np.float32))}
    with PrequentialFile(tmp_path / "detections") as sink:
        sink(StepTested(0, found, truth))

    # The mug was found, the chair was not.
    assert results(events, tmp_path).scores["prequential"] == pytest.approx(50.0)


def test_scores_are_told_once_before_the_end(events: list[Event], tmp_path: Path) -> None:
    sink = a_file(tmp_path)
    heard = []

    for event in add_scores(events, sink):
        sink(event)
        heard.append(event)

    scored, finished = heard[-2:]
    assert [event for event in heard if not isinstance(event, Scored)] == events
    assert isinstance(scored, Scored)
    assert isinstance(finished, RunFinished)
    assert sink.content is not None
    assert scored == Scored(1, sink.content.scores)
    assert scored.scores["fap"] == pytest.approx(50.0)


def test_pseudo_labels_are_added_up(events: list[Event], tmp_path: Path) -> None:
    content = results(events, tmp_path)

    assert content.pseudo_label_counts is not None
    assert content.pseudo_label_counts.model_dump() == {"frames": 6, "labels": 8, "right": 6, "objects": 12}


def test_without_pseudo_labels_there_are_no_counts(events: list[Event], tmp_path: Path) -> None:
    bare = [replace(event, audit=None, check=None) if isinstance(event, StepLearned) else event for event in events]

    content = results(bare, tmp_path)

    assert (content.pseudo_label_counts, content.pseudo_label_check) == (None, None)
    assert (content.pseudo_label_groups, content.pseudo_label_periods) == ({}, [])


def test_forgetfulness_is_of_the_classes_that_stayed_away(events: list[Event], tmp_path: Path) -> None:
    # The mug was away for a step and fell from 50 to 25; the chair was always there.
    assert results(events, tmp_path).scores["forgetting"] == pytest.approx(25.0)


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

    content = results([*events, RunFinished(4, 1.0)], tmp_path, Definitions(**choices))

    assert content.scores["forgetting"] == pytest.approx(expected)
    assert content.definitions == Definitions(**choices)


def test_without_a_single_pass_there_is_no_forgetfulness(events: list[Event], tmp_path: Path) -> None:
    assert results(events, tmp_path, single_pass=False).scores["forgetting"] is None


def test_times_labels_and_memory_are_added_up(events: list[Event], tmp_path: Path) -> None:
    content = results(events, tmp_path)

    assert content.seconds == 4.0
    assert content.seconds_by_part == {"stream": 0.5, "train": 1.0, "evaluate": 0.25}
    assert (content.labelled_frames, content.labelled_boxes, content.labelling_seconds) == (2, 5, 41.0)
    assert content.memory_bytes == 2000
    assert content.peak_ram_bytes == 700
    assert (content.benchmark, content.steps) == ("wander", 2)


def test_a_frame_that_is_left_out_twice_is_one(tmp_path: Path) -> None:
    steps = [StepLearned(step, {}, (), (), (), None, 0, {}, skipped={7: "broken"}) for step in range(2)]

    content = results([RunStarted("a run", ("mug",), 2, 0), *steps, RunFinished(2, 0.5)], tmp_path)

    assert content.skipped_frames == 1


def test_an_undefined_figure_is_null(tmp_path: Path) -> None:
    content = results(
        [RunStarted("a run", ("mug",), 1, 0), seen(0, present=True, labelled=True), RunFinished(1, 0.5)], tmp_path
    )

    assert content.scores == dict.fromkeys(("fap", "cap", "forgetting", "bwt"))


def test_steps_that_were_refused_and_warnings_are_counted(tmp_path: Path) -> None:
    good, bad = (StepLearned(step, {}, (), (), (), None, 0, {}, refused=why) for step, why in ((0, None), (1, "nan")))

    content = results(
        [RunStarted("a run", ("mug",), 2, 0), good, Warned(0, "odd"), Warned(0, "odder"), bad, RunFinished(2, 0.5)],
        tmp_path,
    )

    assert (content.refused_steps, content.warnings) == (1, 2)


def test_updates_and_their_frames_are_counted_and_lost_with_an_old_state(tmp_path: Path) -> None:
    step = StepLearned(0, {}, (), (), (), None, 0, {}, trained_on=(16, 4))
    start, rest = RunStarted("a run", ("mug",), 2, 0), [replace(step, step=1, trained_on=(8,)), RunFinished(2, 0.5)]
    whole = results([start, step, *rest], tmp_path)
    assert (whole.updates, whole.frames_trained_on) == (3, 28)

    first, second, third = (a_file(tmp_path) for _ in range(3))
    first(start)
    first(step)
    state = first.state_dict()
    second.load_state_dict(state)
    third.load_state_dict({key: value for key, value in state.items() if key != "trained"})
    for event in [replace(start, first_step=1), *rest]:
        second(event)
        third(event)
    assert second.content is not None
    assert (second.content.updates, second.content.frames_trained_on) == (3, 28)
    assert third.content is not None
    assert (third.content.updates, third.content.frames_trained_on) == (None, None)


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

    assert second.content == whole
    assert (whole.seconds, whole.warnings, whole.refused_steps, whole.skipped_frames) == (3.5, 1, 1, 1)


@pytest.mark.parametrize(
    ("first", "second", "whole"), [(900, 700, 900), (700, 900, 900), (None, 900, None), (900, None, None)]
)
def test_the_peak_of_a_resumed_run_is_the_largest_of_its_parts(
    first: int | None, second: int | None, whole: int | None, events: list[Event], tmp_path: Path
) -> None:
    begun, resumed = a_file(tmp_path, ram=first), a_file(tmp_path, ram=second)
    for event in events[:5]:
        begun(event)

    resumed.load_state_dict(begun.state_dict())
    for event in [replace(events[0], first_step=1), *events[5:]]:
        resumed(event)

    assert resumed.content is not None
    assert resumed.content.peak_ram_bytes == whole


def test_a_state_of_the_first_form_is_gone_on_from(events: list[Event], tmp_path: Path) -> None:
    """As commit a9415f2 saved it: the presence that counts, and no sum of audits."""
    whole = results(events, tmp_path)
    before, after = a_file(tmp_path), a_file(tmp_path)
    for event in events[:5]:
        before(event)
    state = before.state_dict()
    unknown = ("in_stream", "in_labels", "start", "audit", "peak_ram_bytes")
    old = {key: value for key, value in state.items() if key not in unknown}

    after.load_state_dict(old | {"seen": state["in_stream"]})
    for event in [replace(events[0], first_step=1), *events[5:-1], RunFinished(2, 2.5)]:
        after(event)

    assert after.content is not None
    assert after.content.scores == whole.scores
    # Half of them would be worse than none.
    assert after.content.pseudo_label_counts is None
    assert after.content.peak_ram_bytes is None
    assert "audit" not in after.state_dict()


def test_a_state_is_not_changed_by_later_events(events: list[Event], tmp_path: Path) -> None:
    sink = a_file(tmp_path)
    for event in events[:5]:
        sink(event)
    state = sink.state_dict()
    kept = copy.deepcopy(state)

    for event in events[5:]:
        sink(event)

    for name in ("in_stream", "in_labels"):
        assert torch.equal(state.pop(name), kept.pop(name))
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
    assert len(sink.state_dict()["in_stream"]) == len(sink.state_dict()["in_labels"]) == 50


def test_a_run_whose_source_never_began_has_results_too(tmp_path: Path) -> None:
    content = results([RunStarted("a run", ("mug",), 1, 0), Warned(0, "no more"), RunFinished(0, 0.5)], tmp_path)

    assert (content.steps, content.scores["fap"], content.warnings) == (0, None, 1)
