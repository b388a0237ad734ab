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
from leocod.report.pictures import make_pictures
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def with_samples(path: Path, **changed: object) -> Run:
    """Every sample of the run, changed in the same way."""
    file = path / "samples" / "samples.json"
    file.write_text(json.dumps([sample | changed for sample in json.loads(file.read_text())]))
    return Run.load(path)


def test_right_and_wrong_are_told_apart_by_the_truth(a_run: MakeRun) -> None:
    first = make_pictures(Run.load(a_run()), "pseudo")[0]

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

    texts = [box.text for box in make_pictures(run, "pseudo")[0].boxes if box.text]

    assert texts == ["✓ mug 0.90", "✗ mug 0.60"]


def test_a_score_that_was_not_kept_is_not_written(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[12, 10, 44, 40, 0, 1.0]])

    assert [box.text for box in make_pictures(run, "pseudo")[0].boxes if box.text] == ["✓ mug"]


def test_nothing_is_right_or_wrong_in_a_frame_that_nobody_has_labelled(a_run: MakeRun) -> None:
    picture = make_pictures(with_samples(a_run(), truth=None), "pseudo")[0]

    assert [(box.verdict, box.text) for box in picture.boxes] == [("stored", "mug"), ("stored", "<script>ale…")]
    assert not picture.is_judged


def test_memory_frames_show_their_stored_boxes_only(a_run: MakeRun) -> None:
    first = make_pictures(Run.load(a_run()), "memory")[0]

    assert [(box.verdict, box.text) for box in first.boxes] == [("stored", "mug")]


def test_test_detections_that_are_hardly_believed_are_not_drawn(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[12, 10, 44, 40, 0, 0.29], [12, 10, 44, 40, 0, 0.31]], truth=[])

    assert [box.text for box in make_pictures(run, "test")[0].boxes] == ["✗ mug 0.31"]


def test_boxes_without_area_are_left_out_and_classes_may_be_names(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[5, 5, 5, 9, 0, 0.9], [12, 10, 44, 40, "mug", 0.8]])

    assert [box.text for box in make_pictures(run, "test")[0].boxes if box.text] == ["✓ mug 0.80"]


def test_text_runs_towards_the_middle(a_run: MakeRun) -> None:
    run = with_samples(a_run(), boxes=[[2, 10, 20, 40, 0, 0.9], [80, 10, 95, 40, 0, 0.8]], truth=[])

    assert [box.anchor for box in make_pictures(run, "test")[0].boxes] == ["start", "end"]


def test_too_many_samples_are_thinned_evenly(a_run: MakeRun) -> None:
    run = Run.load(a_run())

    assert [picture.title for picture in make_pictures(run, "test", most=2)] == ["frame 100", "frame 102"]


def test_a_sample_cannot_point_out_of_its_directory(a_run: MakeRun, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    run = with_samples(a_run(), file="../../../secret.png")

    with pytest.raises(InvalidRun, match=r"samples/secret\.png is not a readable picture"):
        make_pictures(run, "test")


@pytest.mark.parametrize("name", ["", ".", "..", "/", "nul\0.png", "\ud800.png", "none.png", "../samples.json"])
def test_a_name_that_leads_to_no_picture_is_told_in_one_line(a_run: MakeRun, name: str) -> None:
    run = with_samples(a_run(), file=name)

    with pytest.raises(InvalidRun, match="Delete .*samples for a report without samples") as caught:
        make_pictures(run, "test")
    assert str(caught.value).isprintable()


def test_a_link_in_the_place_of_a_picture_is_not_followed_out(a_run: MakeRun, tmp_path: Path) -> None:
    path = a_run()
    for file in (path / "samples").glob("*.png"):
        file.rename(tmp_path / file.name)
        file.symlink_to(tmp_path / file.name)

    with pytest.raises(InvalidRun, match=r"test_0\.png leads out of the run directory"):
        make_pictures(Run.load(path), "test")


def test_a_picture_of_too_many_pixels_is_refused_by_its_header(a_run: MakeRun) -> None:
    path = a_run()
    PillowImage.new("1", (70_000, 1000)).save(path / "samples" / "test_0.png")

    with pytest.raises(InvalidRun, match=r"test_0\.png is not a readable picture \(it has more than 64 million pixels"):
        make_pictures(Run.load(path), "test")


def test_a_picture_whose_pixels_are_damaged_is_told(a_run: MakeRun) -> None:
    path = a_run()
    file = path / "samples" / "test_0.png"
    file.write_bytes(file.read_bytes()[:-40])

    with pytest.raises(InvalidRun, match=r"test_0\.png is not a readable picture \(it is not a readable image"):
        make_pictures(Run.load(path), "test")


def test_only_a_small_png_goes_into_the_page_as_it_is(a_run: MakeRun) -> None:
    path = a_run()
    PillowImage.new("RGB", (96, 72)).save(path / "samples" / "test_0.png", format="TIFF")
    with (path / "samples" / "test_1.png").open("ab") as file:
        file.write(b"much more" * 100_000)

    shown = make_pictures(Run.load(path), "test")

    assert [one.data.partition(";")[0] for one in shown] == ["data:image/jpeg", "data:image/jpeg", "data:image/png"]
    assert len(shown[1].data) < 10_000


def test_a_box_that_is_too_thin_for_its_digits_is_left_out(a_run: MakeRun) -> None:
    run = with_samples(
        a_run(), boxes=[[999_999.0, 1, 999_999.001, 9, 0, 0.9]], truth=[[1, 999_999.0, 9, 999_999.001, 0]]
    )

    assert make_pictures(run, "test")[0].boxes == ()


def test_a_large_frame_is_made_light_and_its_boxes_stay_where_they_are(a_run: MakeRun) -> None:
    path = a_run()
    noise = np.random.default_rng(0).integers(0, 255, (720, 1280, 3), dtype=np.uint8)
    for file in (path / "samples").glob("*.png"):
        PillowImage.fromarray(noise).save(file)
    run = with_samples(path, boxes=[[600, 300, 900, 500, 0, 0.9]])

    first = make_pictures(run, "pseudo")[0]

    kind, _, data = first.data.partition(";base64,")
    with PillowImage.open(io.BytesIO(base64.b64decode(data))) as image:
        assert (kind, image.size) == ("data:image/jpeg", (480, 270))
    assert (first.width, first.height) == (1280, 720)
    assert [(box.x, box.width) for box in first.boxes if box.text] == [(600, 300)]
