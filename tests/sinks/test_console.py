import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console, Group

from leocod.evaluation.results import Results
from leocod.events import Evaluated, Event, RunStarted, StepArrived, StepFinished, StepLearned, StreamEnded, Warned
from leocod.sinks.console import ConsoleProgress, results_table
from leocod.types import Detections

FIGURES: dict[str, Any] = {
    "benchmark": "wander",
    "detector": "tiny",
    "strategy": "icarl",
    "seed": 0,
    "efficient_cls": True,
    "ema": True,
    "pseudo_labels": True,
    "labels_per_step": 4,
    "labels_nested": False,
    "diagnosis": None,
    "scores": {"fap": 41.27, "cap": 30.0, "forgetting": None},
    "evaluations": [],
    "labelled_frames": 480,
    "skipped_frames": 0,
    "skipped_test_frames": 0,
    "refused_steps": 0,
    "warnings": 0,
    "memory_bytes": 3_400_000,
    "seconds": 61.2,
    "steps": 120,
}


def a_table(**changed: Any) -> Group:
    return results_table(Results.model_validate(FIGURES | changed))


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=120, force_terminal=False)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def words(console: Console) -> str:
    """Without what only aligns the columns."""
    return " ".join(shown(console).split())


def test_evaluations_and_the_end_of_the_bar_are_shown(events: list[Event], console: Console) -> None:
    with ConsoleProgress(console=console) as sink:
        for event in events:
            sink(event)

    assert "a run: 2 steps, 3 classes" in shown(console)
    assert "step 1: AP50 37.5 on 1 test frame" in shown(console)
    assert "2/2" in shown(console)
    assert "AP50 50.0" in shown(console)
    assert "2 labels" in shown(console)
    assert "writing the report" in shown(console)


def test_what_is_found_on_earlier_test_frames_is_shown_beside(console: Console) -> None:
    found = Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.int64), np.zeros(0, np.float32))
    with ConsoleProgress(console=console) as sink:
        sink(RunStarted("a run", ("mug",), 50, 0))
        sink(Evaluated(3, {"mug": 0.5}, 0.1, {1: found}, also={"runs [1]": {"cup": 0.25, "dog": None}}))
    scores = {"ap": 25.0, "ap_by_class": {"cup": 25.0}}
    console.print(a_table(also={"runs [1]": {"start": scores, "evaluations": [{"step": 3, **scores, "ap": 20.0}]}}))

    assert "step 4: AP50 50.0 on 1 test frame, 25.0 on those of runs [1]" in words(console)
    assert "on the test frames of runs [1], before and after │ 25.0, 20.0" in words(console)


def test_the_table_has_the_headline_figures(console: Console) -> None:
    console.print(a_table())

    assert "wander, icarl with Efficient-CLS, 4 labelled frames a step" in shown(console)
    assert "FAP, mean AP50 at the end" in shown(console)
    assert "F, forgetfulness  " in shown(console)
    assert "41.3" in shown(console)
    assert "–" in shown(console)
    assert "Diagnosis" not in shown(console)
    assert not any(words in shown(console) for words in ("left out", "not learnt", "warnings"))


def test_the_table_has_the_most_ram_or_says_that_nobody_measured_it(console: Console) -> None:
    console.print(a_table(peak_ram_bytes=812_400_000))
    console.print(a_table())

    assert "RAM, at most │ 812 MB" in words(console)
    assert "RAM, at most │ not measured" in words(console)


def test_labels_are_counted_where_there_were_not_as_many_as_asked_for(console: Console) -> None:
    console.print(a_table(labels_per_step=16, labelled_frames=39, steps=12))

    assert "wander, icarl with Efficient-CLS, 39 labelled frames in 12 steps" in shown(console)
    assert "16 labelled frames a step" not in shown(console)


def test_frames_that_were_left_out_are_counted(console: Console) -> None:
    console.print(a_table(skipped_frames=3, skipped_test_frames=1))

    assert "frames left out, unusable │ 3 of the stream, 1 of the test" in words(console)


def test_another_metric_is_named_beside_its_figure(events: list[Event], console: Console) -> None:
    with ConsoleProgress(console=console) as sink:
        for event in events:
            sink(replace(event, ap_name="VOC AP50") if isinstance(event, Evaluated) else event)
    console.print(a_table(definitions={"ap": "voc", "forgetting_bins": 4, "presence": "labelled"}))

    assert "step 1: VOC AP50 37.5 on 1 test frame" in shown(console)
    assert "FAP, mean VOC AP50 at the end" in shown(console)
    assert "CAP, mean VOC AP50 over all evaluations" in shown(console)
    assert "F, forgetfulness (4 bins, labelled presence)" in shown(console)


def test_a_metric_of_ones_own_is_shown_by_its_own_words(console: Console) -> None:
    words = {"label": "Half", "title": "[steps] until half", "direction": "lower", "unit": "steps"}

    console.print(a_table(scores={"half": 12.0}, metrics={"half": words}))

    assert "Half, [steps] until half │ 12.0 steps" in shown(console)
    assert "FAP" not in shown(console)


def test_nested_labels_are_named(console: Console) -> None:
    console.print(a_table(labels_nested=True))

    assert "4 labelled frames a step (nested)" in shown(console)


def test_a_budget_that_is_not_for_each_step_is_not_named_as_one(console: Console) -> None:
    console.print(a_table(labels_per_step=None))

    assert "a step" not in shown(console)


def test_what_labels_took_a_person_is_told_where_it_is_known(console: Console) -> None:
    console.print(a_table())
    assert "labelled frames" in shown(console)
    assert "person" not in shown(console)

    console.print(a_table(labelled_boxes=1200, labelling_seconds=9840.0))
    assert "480, 1200 boxes" in shown(console)
    assert "a person's time for them" in shown(console)
    assert "164 min" in shown(console)


def test_a_diagnosis_is_named(console: Console) -> None:
    console.print(a_table(diagnosis="true boxes as pseudo labels"))

    assert "Diagnosis: true boxes as pseudo labels. Not a result of the method." in shown(console)


def learned(step: int, *labelled: int, refused: str | None = None) -> StepLearned:
    return StepLearned(step, {}, labelled, (), (), None, 0, {}, refused=refused)


def test_steps_that_were_not_learnt_and_warnings_are_counted(console: Console) -> None:
    console.print(a_table(refused_steps=3, warnings=2))

    assert "steps not learnt, bad numbers │ 3" in words(console)
    assert "warnings, see the report │ 2" in words(console)


def test_a_step_that_is_refused_and_a_warning_are_told_as_they_come(console: Console) -> None:
    with ConsoleProgress(console=console) as sink:
        sink(RunStarted("a run", ("mug",), 9, 0))
        sink(learned(1, refused="the loss [current] is nan"))
        sink(Warned(4, "Pseudo labels have [collapsed]."))

    assert "step 2: not learnt, the loss [current] is nan\n" in shown(console)
    assert "step 5: Pseudo labels have [collapsed].\n" in shown(console)


def test_a_run_that_goes_on_says_so_and_its_bar_begins_there(console: Console) -> None:
    before, sink = ConsoleProgress(console=console), ConsoleProgress(console=console)
    before(RunStarted("a run", ("mug",), 9, 0))
    before(learned(0, 1, 2))

    sink.load_state_dict(before.state_dict())
    with sink:
        sink(RunStarted("a run", ("mug",), 9, 4))

    assert "resumed after step 4" in shown(console)
    assert "4/9" in shown(console)
    assert "2 labels" in shown(console)


def test_a_new_run_does_not_go_on(console: Console) -> None:
    with ConsoleProgress(console=console) as sink:
        sink(RunStarted("a run", ("mug",), 9, 0))

    assert "going on" not in shown(console)


@pytest.mark.parametrize("single_pass", [True, False])
def test_a_frame_that_comes_again_is_one_label_also_in_a_run_that_goes_on(console: Console, single_pass: bool) -> None:
    before, sink = ConsoleProgress(console=console), ConsoleProgress(console=console)
    before(RunStarted("a run", ("mug",), 9, 0, single_pass=single_pass))
    before(learned(0, 1, 2))

    sink.load_state_dict(before.state_dict())
    with sink:
        sink(RunStarted("a run", ("mug",), 9, 1, single_pass=single_pass))
        sink(learned(1, 2, 3))

    assert f"{4 if single_pass else 3} labels" in shown(console)


@pytest.mark.parametrize(
    ("last", "says"),
    [(StepArrived(0), "learning"), (StepFinished(0), "waiting"), (StreamEnded(1), "finished")],
)
def test_the_bar_says_what_the_run_is_at(console: Console, last: Event, says: str) -> None:
    with ConsoleProgress(console=console) as sink:
        sink(RunStarted("a run", ("mug",), 9, 0))
        sink(last)

    assert says in shown(console)


def test_it_keeps_nothing_of_what_was_found_or_labelled(
    console: Console, reachable: Callable[[object], list[object]]
) -> None:
    found = Detections(np.zeros((9, 4), np.float32), np.zeros(9, np.int64), np.zeros(9, np.float32))
    with ConsoleProgress(console=console) as sink:
        sink(RunStarted("a run", ("mug",), 50, 0))
        for step in range(50):
            sink(learned(step, 10**6 + step))
            sink(Evaluated(step, {"mug": 0.5}, 0.1, {step: found}))

    within = reachable(sink)
    assert not any(isinstance(one, Detections | StepLearned) for one in within)
    assert not any(isinstance(one, int) and one >= 10**6 and one < 10**6 + 50 for one in within)
