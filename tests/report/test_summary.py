"""The first screen says what was learnt, what was forgotten and what to do next."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leocod.cli.detector import predict
from leocod.evaluation.results import Results
from leocod.events import ClassCounts, PseudoLabelAudit
from leocod.report.reading import Run
from leocod.report.schemas import Held, Memory
from leocod.report.summary import SHOWN_ABOVE, summarise

MakeRun = Callable[..., Path]


@pytest.fixture
def run(a_run: MakeRun) -> Run:
    return Run.load(a_run())


def tell(run: Run) -> dict[str, str]:
    return {one.heading: " ".join(one.sentences) for one in summarise(run)}


def with_points(run: Run, *rows: dict[str, float | None], start: float | None = None) -> Run:
    """The same run with these evaluations, ten steps apart."""
    evaluations: list[dict[str, Any]] = []
    for number, row in enumerate(rows, start=1):
        known = [ap for ap in row.values() if ap is not None]
        evaluations.append({"step": 10 * number - 1, "ap": sum(known) / len(known), "ap_by_class": row})
    content = run.results.model_dump() | {"evaluations": evaluations}
    if start is not None:
        content["start"] = {"ap": start, "ap_by_class": {}}
    return replace(run, results=Results.model_validate(content))


def test_it_says_how_far_it_came(run: Run) -> None:
    rows = {"mug": 10.0, "laptop": 20.0}, {"mug": 30.0, "laptop": 50.0}

    mean = "It is the mean over 2 of 6 classes; 100 is perfect."

    assert tell(with_points(run, *rows))["What was learnt"] == f"AP50 is 40.0 at the end, 15.0 after step 10. {mean}"
    started = tell(with_points(run, *rows, start=4.25))
    assert started["What was learnt"] == f"AP50 is 40.0 at the end, 4.2 before the first step. {mean}"
    assert tell(with_points(run, rows[1]))["What was learnt"] == f"AP50 is 40.0 at the end. {mean}"


def test_it_names_what_fell_from_its_best_and_when_it_was_last_there(run: Run) -> None:
    fallen = with_points(run, {"mug": 40.0, "laptop": 20.0}, {"mug": 30.0, "laptop": 19.0})

    assert "points or more below their best: mug (40 → 30, last seen at step" in tell(fallen)["What was forgotten"]
    assert "laptop" not in tell(fallen)["What was forgotten"]
    kept = with_points(run, {"mug": 40.0}, {"mug": 39.0})
    assert tell(kept)["What was forgotten"] == "No class is 5 points or more below its best."


def test_classes_with_few_labels_are_to_be_labelled(run: Run) -> None:
    mug, laptop = run.classes.index("mug"), run.classes.index("laptop")
    counts = {step: {laptop: 16} | ({mug: 1} if step < 3 else {}) for step in run.labelled}
    # The memory was offered fewer frames than were labelled. That does not count.
    memory = Memory(bytes=9, frames=12, by_class={"mug": Held(frames=3, seen=2), "laptop": Held(frames=5, seen=5)})
    points = with_points(run, {"mug": 10.0, "laptop": 60.0}, {"mug": 10.0, "laptop": 60.0})
    poor = replace(points, memory=memory, labelled_frames=counts)

    assert "Label more frames with mug (3 labelled frames):" in tell(poor)["What to do next"]
    # Events of an earlier version do not tell it of all steps.
    assert "Label more frames" not in tell(replace(poor, labelled_frames={0: counts[0]}))["What to do next"]


def test_classes_whose_pseudo_labels_are_mostly_wrong_are_named(run: Run) -> None:
    counts = {0: ClassCounts(40, 10, 50), 1: ClassCounts(40, 30, 50), 2: ClassCounts(5, 0, 9)}
    audited = replace(run, audits={3: PseudoLabelAudit(9, 85, 40, 109, counts)})

    advice = tell(audited)["What to do next"]

    assert "Pseudo labels of mug (10 of 40 right) are mostly wrong" in advice
    assert "laptop (" not in advice


def test_a_memory_that_is_full_of_one_class_is_told(run: Run) -> None:
    held = {"mug": Held(frames=9, seen=99), "laptop": Held(frames=1, seen=20), "plant": Held(frames=1, seen=20)}

    full = replace(run, memory=Memory(bytes=9, frames=11, by_class=held))
    random = replace(full, config="strategy: {name: icarl, memory_store: random}")

    assert "The memory is mostly full of mug" in tell(random)["What to do next"]
    # A balanced one cannot be cured by being balanced.
    assert "mostly full" not in tell(full)["What to do next"]


def test_what_nobody_tests_and_what_still_rises_is_told(run: Run) -> None:
    rising = with_points(run, {"mug": 10.0, "never tested": None}, {"mug": 20.0, "never tested": None})

    advice = tell(rising)["What to do next"]

    assert "No test frame shows laptop" in advice
    assert "and 1 more, so nobody knows" in advice
    assert "AP50 still rises at the end" in advice


def test_a_run_without_a_test_says_so(run: Run) -> None:
    untested = replace(run, results=Results.model_validate(run.results.model_dump() | {"evaluations": []}))

    assert tell(untested)["What was learnt"] == "Nothing was tested, so nothing can be said."
    assert tell(untested)["What was forgotten"].startswith("There is no time")


def test_what_a_stream_cost_on_an_earlier_one_is_what_was_forgotten(run: Run) -> None:
    one = with_points(run, {"mug": 40.0})
    before, after = {"ap": 30.0, "ap_by_class": {"cup": 30.0}}, {"step": 9, "ap": 20.5, "ap_by_class": {"cup": 20.5}}
    content = one.results.model_dump() | {"also": {"kitchen": {"start": before, "evaluations": [after]}}}
    second = replace(one, results=Results.model_validate(content))

    told = tell(second)["What was forgotten"]

    assert told == "On the test frames of kitchen: 30.0 before the first step, 20.5 at the end."


def test_it_says_what_it_cost(run: Run) -> None:
    content = run.results.model_dump() | {"labelled_frames": 8, "labelled_boxes": 20, "labelling_seconds": 200.0}
    content |= {"seconds": 75.0, "steps": 2}

    told = tell(replace(run, results=Results.model_validate(content)))["What it cost"]

    assert (
        told
        == "8 labelled frames with 20 boxes, which take a person 3 min 20 s. 1 min 15 s of this machine for 2 steps."
    )


def with_scores(path: Path, *scores: float) -> Run:
    """The run, which has found as many mugs in a test frame at the last evaluation."""
    found = [{"image_id": 1, "category_id": 1, "bbox": [10.0, 10.0, 20.0, 20.0], "score": score} for score in scores]
    (path / "detections" / "step_00059.json").write_text(json.dumps(found))
    return Run.load(path)


def test_a_detector_that_predict_would_show_nothing_of_is_told_first_with_the_cure(a_run: MakeRun) -> None:
    silent = with_scores(a_run(), 0.372, 0.5)

    first = summarise(silent)[-1].sentences[0]

    assert first == (
        "No detection in the test frames has a score above 0.5 (the best: 0.50), so `leocod predict` shows nothing "
        "there. Label more frames, or learn more often from each step (a higher strategy.rounds). A --threshold below "
        "0.50 shows more."
    )


def test_a_detector_that_finds_nothing_at_all_gets_no_advice_about_the_threshold(a_run: MakeRun) -> None:
    first = summarise(with_scores(a_run()))[-1].sentences[0]

    assert first.startswith("The detector finds nothing in the test frames. Label more frames, or learn more often")
    assert "--threshold" not in first


def test_one_detection_above_the_threshold_is_enough_to_be_silent_about_it(a_run: MakeRun) -> None:
    advice = tell(with_scores(a_run(), 0.51, 0.1))["What to do next"]

    assert "leocod predict" not in advice


def test_the_advice_is_about_the_threshold_that_predict_has() -> None:
    assert inspect.signature(predict).parameters["threshold"].default == SHOWN_ABOVE
