import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.evaluation.ap import Style, average_precision
from leocod.events import Evaluated, Event, StepTested
from leocod.report.detections import PREQUENTIAL, read_prequential
from leocod.run.record.detections import DetectionFiles, PrequentialFile
from leocod.types import Detections, Labels


def test_there_is_a_file_for_each_evaluation(events: list[Event], tmp_path: Path) -> None:
    with DetectionFiles(tmp_path) as sink:
        for event in events:
            sink(event)

    assert sorted(file.name for file in tmp_path.iterdir()) == ["step_00000.json", "step_00001.json"]
    (found,) = json.loads((tmp_path / "step_00001.json").read_text())
    assert (found["image_id"], found["category_id"], found["bbox"]) == (7, 2, [1.0, 2.0, 3.5, 6.0])


def test_only_the_newest_are_kept_where_somebody_says_so_and_the_start(events: list[Event], tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("mine")
    evaluations = [event for event in events if isinstance(event, Evaluated)]

    with DetectionFiles(tmp_path, keep=2) as sink:
        for step in (-1, 9, 99_999, 100_000):
            sink(replace(evaluations[0], step=step))

    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("notes.json", "start.json", "step_100000.json", "step_99999.json")
    ]


def tried(step: int) -> StepTested:
    """Two frames of two classes, found more or less; nobody knows what is in a third one."""
    random = np.random.default_rng(step)
    corners = random.uniform(0, 50, (2, 5, 2))
    truth = {
        10 * step + number: Labels(np.hstack([corner, corner + 20]), random.integers(0, 2, 5))
        for number, corner in enumerate(corners)
    }
    found = {
        frame: Detections(
            (labels.boxes + random.normal(0, 3, (5, 4))).astype(np.float32),
            labels.classes,
            np.sort(random.random(5).astype(np.float32))[::-1],
        )
        for frame, labels in truth.items()
    }
    unknown = {10 * step + 9: Labels.unknown()}
    return StepTested(step, {**found, 10 * step + 9: found[10 * step]}, {**truth, **unknown})


def steps(count: int) -> Iterator[StepTested]:
    return (tried(step) for step in range(count))


@pytest.mark.parametrize("style", ["coco", "voc"])
def test_prequential_ap_is_that_of_all_frames_together_to_the_last_digit(style: Style, tmp_path: Path) -> None:
    with PrequentialFile(tmp_path / "detections") as sink:
        for event in steps(4):
            sink(event)

    result = read_prequential(tmp_path, 3, style)

    found = {frame: one for event in steps(4) for frame, one in event.detections.items() if frame % 10 != 9}
    truth = {frame: one for event in steps(4) for frame, one in event.truth.items() if frame % 10 != 9}
    expected = 100 * average_precision(found, truth, 3, style=style)
    assert result is not None
    np.testing.assert_array_equal(result, expected)
    assert 0 < np.nanmin(expected) < 100
    assert np.isnan(expected[2])


def test_a_frame_in_which_nothing_was_found_counts(tmp_path: Path) -> None:
    event = tried(0)
    with PrequentialFile(tmp_path / "detections") as sink:
        sink(replace(event, detections={}))

    assert read_prequential(tmp_path, 2, "coco") == pytest.approx([0.0, 0.0])


def test_there_is_no_file_unless_there_is_something_to_write(events: list[Event], tmp_path: Path) -> None:
    with PrequentialFile(tmp_path / "detections") as sink:
        for event in events:
            sink(event)

    assert list(tmp_path.iterdir()) == []
    assert read_prequential(tmp_path, 2, "coco") is None


def test_a_run_that_goes_on_writes_the_steps_after_its_checkpoint_again(tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "detections"
    with PrequentialFile(whole) as sink:
        for event in steps(4):
            sink(event)
    with PrequentialFile(folder) as first:
        for event in steps(3):
            first(event)
            if event.step == 1:
                state = first.state_dict()

    second = PrequentialFile(folder)
    second.load_state_dict(state)
    with second:
        for event in [tried(2), tried(3)]:
            second(event)

    assert (folder / PREQUENTIAL).read_bytes() == (whole / PREQUENTIAL).read_bytes()


def test_a_run_that_starts_anew_keeps_nothing_of_what_was_there(tmp_path: Path) -> None:
    for count in (3, 1):
        with PrequentialFile(tmp_path) as sink:
            for event in steps(count):
                sink(event)

    assert len((tmp_path / PREQUENTIAL).read_text().splitlines()) == 1


@pytest.mark.parametrize("content", [None, "short"])
def test_a_run_cannot_go_on_without_what_it_wrote(content: str | None, tmp_path: Path) -> None:
    sink = PrequentialFile(tmp_path)
    sink.load_state_dict({"bytes": 100})
    if content is not None:
        (tmp_path / PREQUENTIAL).write_text(content)

    with pytest.raises(InvalidRun, match="Put it back"), sink:
        pass
