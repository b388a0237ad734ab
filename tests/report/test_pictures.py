"""Boxes over sample frames: right, wrong, true and stored."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.errors import InvalidRun
from leocod.report.pictures import pictures
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def with_samples(path: Path, **changed: object) -> Run:
    """Every sample of the run, changed in the same way."""
    file = path / "samples" / "samples.json"
    file.write_text(json.dumps([sample | changed for sample in json.loads(file.read_text())]))
    return Run.load(path)


def test_right_and_wrong_are_told_apart_by_the_truth(a_run: MakeRun) -> None:
    first = pictures(Run.load(a_run()), "pseudo")[0]

    assert [(box.verdict, box.text) for box in first.boxes] == [
        ("true", ""),
        ("true", ""),
        ("right", "✓ mug 0.93"),
        ("wrong", "✗ <script>ale… 0.71"),
    ]
    assert (first.width, first.height) == (96, 72)
    assert first.title == "frame 103, step 3"
    assert first.data.startswith("data:image/png;base64,iVBOR")


def test_a_second_box_on_the_same_object_is_wrong(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[12, 10, 44, 40, 0, 0.6], [12, 10, 44, 40, 0, 0.9]])

    texts = [box.text for box in pictures(run, "pseudo")[0].boxes if box.text]

    assert texts == ["✓ mug 0.90", "✗ mug 0.60"]


def test_a_score_that_was_not_kept_is_not_written(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[12, 10, 44, 40, 0, 1.0]])

    assert [box.text for box in pictures(run, "pseudo")[0].boxes if box.text] == ["✓ mug"]


def test_memory_frames_show_their_stored_boxes_only(a_run: MakeRun) -> None:
    first = pictures(Run.load(a_run()), "memory")[0]

    assert [(box.verdict, box.text) for box in first.boxes] == [("stored", "mug")]


def test_test_detections_that_are_hardly_believed_are_not_drawn(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[12, 10, 44, 40, 0, 0.29], [12, 10, 44, 40, 0, 0.31]], truth=[])

    assert [box.text for box in pictures(run, "test")[0].boxes] == ["✗ mug 0.31"]


def test_boxes_without_area_are_left_out_and_classes_may_be_names(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[5, 5, 5, 9, 0, 0.9], [12, 10, 44, 40, "mug", 0.8]])

    assert [box.text for box in pictures(run, "test")[0].boxes if box.text] == ["✓ mug 0.80"]


def test_text_runs_towards_the_middle(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[2, 10, 20, 40, 0, 0.9], [80, 10, 95, 40, 0, 0.8]], truth=[])

    assert [box.anchor for box in pictures(run, "test")[0].boxes] == ["start", "end"]


def test_too_many_samples_are_thinned_evenly(a_run: MakeRun) -> None:
    run = Run.load(a_run())

    assert [picture.title for picture in pictures(run, "test", most=2)] == ["frame 100", "frame 102"]


def test_a_sample_cannot_point_out_of_its_directory(a_run: MakeRun, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    run = with_samples(a_run(), file="../../../secret.png")

    with pytest.raises(InvalidRun, match=r"samples/secret\.png is not a readable picture"):
        pictures(run, "test")


def test_a_large_frame_is_made_light_and_its_boxes_stay_where_they_are(a_run: MakeRun) -> None:
    path = a_run()
    noise = np.random.default_rng(0).integers(0, 255, (720, 1280, 3), dtype=np.uint8)
    for file in (path / "samples").glob("*.png"):
        PillowImage.fromarray(noise).save(file)
    run = with_samples(path, boxes=[[600, 300, 900, 500, 0, 0.9]])

    first = pictures(run, "pseudo")[0]

    kind, _, data = first.data.partition(";base64,")
    with PillowImage.open(io.BytesIO(base64.b64decode(data))) as image:
        assert (kind, image.size) == ("data:image/jpeg", (480, 270))
    assert (first.width, first.height) == (1280, 720)
    assert [(box.x, box.width) for box in first.boxes if box.text] == [(600, 300)]
