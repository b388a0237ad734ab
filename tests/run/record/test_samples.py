import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepLearned
from leocod.memory.replay import ReplayMemory
from leocod.run.record.samples import Samples
from leocod.types import Detections, Frame, LabelledFrame, Labels


class Corridor:
    """Two training frames and a test frame a step, with a mug in each."""

    name = "corridor"
    classes = ("mug",)
    steps = 5

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        return [self.frame(3 * step), self.frame(3 * step + 1)]

    @property
    def test(self) -> Sequence[LabelledFrame]:
        return [self.frame(3 * step + 2) for step in range(self.steps)]

    @staticmethod
    def frame(number: int) -> LabelledFrame:
        pixels = np.full((6, 8, 3), number, np.uint8)
        return Frame(number, "corridor", number, (6, 8), pixels), Labels(np.array([[1, 1, 5, 5]]), np.array([0]))


class Rememberer:
    def __init__(self) -> None:
        self.memory = ReplayMemory(classes=1, seed=0)

    def remembered_frames(self) -> list[LabelledFrame]:
        return self.memory.frames


def corridor_events() -> list[Event]:
    pseudo = Labels(np.array([[0, 0, 4, 4]]), np.array([0]), "pseudo")
    learned = [
        StepLearned(
            step,
            {},
            (3 * step,),
            (0,),
            (0,),
            None,
            0,
            {},
            pseudo={3 * step + 1: pseudo},
            frames=tuple(frame for frame, _ in Corridor().frames_of(step)),
            truth={frame.id: labels for frame, labels in Corridor().frames_of(step)},
        )
        for step in range(5)
    ]
    boxes = np.array([[1, 1, 5, 5], [0, 0, 2, 2]], np.float32)
    found = Detections(boxes, np.array([0, 0]), np.array([0.9, 0.1], np.float32))
    evaluated = Evaluated(4, {"mug": 1.0}, 0.1, {3 * step + 2: found for step in range(5)})
    return [RunStarted("a run", ("mug",), 5, 0), *learned, evaluated, RunFinished(5, 1.0)]


def sampled(folder: Path, broken_off_before: tuple[type[Event], ...] = ()) -> list[dict[str, Any]]:
    learner: Any = Rememberer()
    learner.memory.add([Corridor.frame(0)])
    with Samples(folder, learner, Corridor().test) as sink:
        for event in corridor_events():
            if isinstance(event, broken_off_before):
                sink, before = Samples(folder, learner, Corridor().test), sink
                sink.load_state_dict(before.state_dict())
                sink(RunStarted("a run", ("mug",), 5, 5))
            sink(event)
    entries: list[dict[str, Any]] = json.loads((folder / "samples.json").read_text())
    return entries


def test_there_are_frames_of_every_kind_as_files(tmp_path: Path) -> None:
    entries = sampled(tmp_path)

    assert {one["kind"] for one in entries} == {"pseudo", "test", "memory"}
    for one in entries:
        with PillowImage.open(tmp_path / one["file"]) as image:
            assert np.asarray(image)[0, 0, 0] == one["frame"]


def test_pseudo_labels_stand_beside_the_truth(tmp_path: Path) -> None:
    pseudo = [one for one in sampled(tmp_path) if one["kind"] == "pseudo"]

    assert [one["step"] for one in pseudo] == [1, 2, 3, 4]
    assert pseudo[0]["frame"] == 4
    assert pseudo[0]["truth"] == [[1.0, 1.0, 5.0, 5.0, 0]]
    assert pseudo[0]["boxes"] == [[0.0, 0.0, 4.0, 4.0, 0, 1.0]]


def test_of_detections_only_those_worth_showing_are_kept(tmp_path: Path) -> None:
    test = [one for one in sampled(tmp_path) if one["kind"] == "test"]

    assert len(test) == 5
    assert test[0]["boxes"] == [[1.0, 1.0, 5.0, 5.0, 0, 0.9]]


@pytest.mark.parametrize("kind", [Evaluated, RunFinished])
def test_gone_on_from_a_state_the_samples_are_the_same(kind: type[Event], tmp_path: Path) -> None:
    whole = sampled(tmp_path / "whole")

    assert sampled(tmp_path / "half", (kind,)) == whole


def test_of_a_chosen_part_of_the_test_only_that_is_shown(tmp_path: Path) -> None:
    learner: Any = Rememberer()
    with Samples(tmp_path, learner, Corridor().test[1:3]) as sink:
        for event in corridor_events():
            sink(event)

    entries = json.loads((tmp_path / "samples.json").read_text())
    assert [one["frame"] for one in entries if one["kind"] == "test"] == [5, 8]


def test_a_frame_that_nobody_has_labelled_has_no_truth(tmp_path: Path) -> None:
    learner: Any = Rememberer()
    with Samples(tmp_path, learner, ()) as sink:
        for event in corridor_events():
            sink(replace(event, truth={}) if isinstance(event, StepLearned) else event)

    assert [one["truth"] for one in sink.entries if one["kind"] == "pseudo"] == [None] * 4


def test_of_a_stream_of_unknown_length_pseudo_labels_are_shown_ever_more_rarely(tmp_path: Path) -> None:
    learner: Any = Rememberer()
    with Samples(tmp_path, learner, Corridor().test) as sink:
        for event in corridor_events():
            sink(RunStarted("a run", ("mug",), None, 0) if isinstance(event, RunStarted) else event)

    entries = json.loads((tmp_path / "samples.json").read_text())
    assert [one["step"] for one in entries if one["kind"] == "pseudo"] == [1, 2, 4]
