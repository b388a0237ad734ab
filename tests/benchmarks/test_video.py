"""A video as a benchmark: frames that nobody has labelled are seen, but never revealed and never tested on."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from leocod.benchmarks.video import Video, VideoOptions
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream

LABELLED = (0, 1, 3, 7)


@pytest.fixture
def film(tmp_path):
    """Ten frames; frame n has brightness 20 n."""
    with av.open(str(tmp_path / "film.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"crf": "0"})
        stream.width, stream.height, stream.pix_fmt = 80, 60, "yuv420p"
        for number in range(10):
            image = np.full((60, 80, 3), number * 20, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return tmp_path / "film.mp4"


@pytest.fixture
def folder(tmp_path, a_picture, sizes):
    for number, size in enumerate(sizes(10)):
        a_picture(tmp_path / "film" / f"{number}.png", size, number * 20)
    return tmp_path / "film"


@pytest.fixture
def labels(tmp_path, a_json):
    """For some frames; in frame 1 there is nothing."""
    annotations = [
        {"id": number, "image_id": number, "category_id": 1, "bbox": [1, 2, 3, 4]} for number in LABELLED if number != 1
    ]
    images = [{"id": number, "file_name": f"{number}.png", "frame_id": number} for number in LABELLED]
    content = {"categories": [{"id": 1, "name": "mug"}], "images": images, "annotations": annotations}
    return a_json(tmp_path / "labels.json", content)


def video(source, **options):
    """With test frames by their place, as where every frame is labelled."""
    values = {"source": source, "frames_per_step": 3, "test_every": 0, **options}
    return Video(VideoOptions.model_validate(values), seed=0)


@pytest.mark.parametrize("source", ["film", "folder"])
def test_every_frame_comes_in_order_and_test_frames_are_the_labelled_ones(request, source, labels, told):
    benchmark = video(request.getfixturevalue(source), labels=labels)

    steps = told(Stream(benchmark, RandomLabeller(RandomOptions(per_step=0), seed=0)))

    values = [[round(one[1] / 20) for one in step] for step in steps]
    assert values == [[0, 1, 2], [4, 5, 6], [8, 9]]
    assert [(round(frame.image()[0, 0, 0] / 20), len(marked)) for frame, marked in benchmark.test] == [(3, 1), (7, 1)]


def test_photos_are_upright_in_size_and_pixels(tmp_path, labels):
    note = Image.Exif()
    note[0x0112] = 6
    (tmp_path / "photos").mkdir()
    for number in range(10):
        pixels = np.zeros((60, 80, 3), np.uint8)
        pixels[:10, :10] = 255
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{number}.png", exif=note)

    benchmark = video(tmp_path / "photos", labels=labels)

    # A quarter clockwise: what was in the upper left corner is in the upper right one.
    for frame, _ in (*benchmark.frames_of(0), *benchmark.test):
        assert frame.size == (80, 60)
        assert frame.image()[0, [0, -1], 0].tolist() == [0, 255]
        assert frame.bytes == 0


def test_a_photo_that_is_upright_keeps_its_file(folder, labels):
    assert all(isinstance(frame.content, Path) for frame, _ in video(folder, labels=labels).frames_of(0))


def test_a_test_frame_that_cannot_be_read_is_lost_and_one_without_labels_is_not(folder, labels):
    for number in (3, 7):
        (folder / f"{number}.png").write_bytes(b"")
    lost = video(folder, labels=labels, on_bad_frame="skip")
    unlabelled = video(folder, labels=labels, on_bad_frame="skip", frames_per_step=2)

    assert (lost.lost_test_frames, lost.unlabelled_test_frames) == (2, 0)
    assert (unlabelled.lost_test_frames, unlabelled.unlabelled_test_frames) == (0, 3)


def test_portrait_frames_of_a_folder_stay_portrait(folder, labels, sizes, told):
    steps = told(Stream(video(folder, labels=labels), RandomLabeller(RandomOptions(per_step=0), seed=0)))

    shapes = sizes(10)
    assert [one[2] for step in steps for one in step] == [shapes[number] for number in (0, 1, 2, 4, 5, 6, 8, 9)]


@pytest.mark.parametrize("source", ["film", "folder"])
def test_only_labelled_frames_are_revealed_or_known(request, source, labels):
    stream = Stream(
        video(request.getfixturevalue(source), labels=labels), RandomLabeller(RandomOptions(per_step=3), seed=0)
    )

    seen = [
        (sorted(arrival.step.labels), sorted(arrival.truth), len(arrival.step.frames)) for arrival in stream.arrivals()
    ]

    assert seen == [([0, 1], [0, 1], 3), ([], [], 3), ([], [], 2)]


def test_steps_of_a_film_can_be_asked_for_in_any_order(film, labels):
    benchmark = video(film, labels=labels)

    values = [[round(frame.image()[0, 0, 0] / 20) for frame, _ in benchmark.frames_of(step)] for step in (2, 0, 1)]

    assert values == [[8, 9], [0, 1, 2], [4, 5, 6]]


def test_a_film_is_not_held_in_memory(film, labels):
    benchmark = video(film, labels=labels)

    assert {frame.bytes for step in range(benchmark.steps) for frame, _ in benchmark.frames_of(step)} == {0}


def test_workers_that_read_ahead_hand_out_the_same(film, labels, told):
    benchmark = video(film, labels=labels)

    alone, helped = (
        told(Stream(benchmark, RandomLabeller(RandomOptions(per_step=1), seed=0), workers=count)) for count in (0, 1)
    )

    assert alone == helped


def test_a_film_without_labels_can_be_streamed(film):
    benchmark = video(film, classes=["mug"], every=2)

    steps = list(Stream(benchmark, RandomLabeller(RandomOptions(per_step=3), seed=0)).steps())

    assert [len(step.frames) for step in steps] == [3, 1]
    assert [len(step.labels) for step in steps] == [0, 0]
    assert benchmark.test == ()


def test_a_run_says_once_which_labels_it_does_not_use(tmp_path, folder):
    (tmp_path / "yolo").mkdir()
    (tmp_path / "yolo" / "classes.txt").write_text("mug")
    for name in ("x", "y", *(file.stem for file in folder.iterdir())):
        (tmp_path / "yolo" / f"{name}.txt").write_text("0 0.1 0.1 0.2 0.1 0.2 0.2")
    benchmark = video(folder, labels=tmp_path / "yolo", hold_out=0, frames_per_step=1)

    arrivals = list(Stream(benchmark, RandomLabeller(RandomOptions(per_step=1), seed=0)).arrivals())

    polygons, strays = arrivals[0].warnings
    assert "shapes left out" in polygons
    assert "10 of 12 labelled images were found in" in strays
    assert "2 were not: x.txt, y.txt. The first one: 'x.txt' is not among the 10 frames of" in strays
    assert [arrival.warnings for arrival in arrivals[1:]] == [()] * (len(arrivals) - 1)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("rtsp://me:secret@host/1", "rtsp://***@host/1"),
        ("http://host/list.m3u8", "http://host/list.m3u8"),
        ("/dev/video0", "/dev/video0"),
        ("0", "0"),
        (0, "0"),
    ],
)
def test_a_source_without_an_end_says_what_to_use_instead(source, shown):
    with pytest.raises(ValidationError, match="has no end") as refusal:
        video(source, classes=["mug"])

    (problem,) = refusal.value.errors()
    assert f"Use `leocod live {shown}`" in problem["msg"]
    assert "secret" not in problem["msg"]


def test_a_folder_that_has_a_number_for_a_name_is_a_folder(folder, monkeypatch):
    folder.rename(folder.parent / "0")
    monkeypatch.chdir(folder.parent)

    assert video("0", classes=["mug"]).steps == 3


def test_sparse_labels_are_all_taken_and_every_so_many_th_of_them_tests(film, labels):
    benchmark = video(film, labels=labels, every=4, test_every=2)

    # Taken are 0, 4, 8, and the labelled 0, 1, 3, 7; of each two labelled ones the second tests.
    steps = [[frame.index for frame, _ in benchmark.frames_of(step)] for step in range(benchmark.steps)]
    assert steps == [[0, 3, 4], [8]]
    assert [frame.index for frame, _ in benchmark.test] == [1, 7]
    assert benchmark.test_steps() == [0, 0]
    assert benchmark.unlabelled_test_frames == 0


def test_a_run_is_told_when_ap_rests_on_little(film, labels):
    few, rare = video(film, labels=labels, test_every=2).warnings

    assert few.startswith("AP rests on 2 test frames with 1 object: ")
    assert rare.startswith("Fewer than 5 objects in the test frames: mug (1).")
    assert list(video(film, labels=labels, hold_out=0).warnings) == []


def test_frames_of_several_films_keep_their_pixels_and_names(tmp_path, film, labels, told):
    (tmp_path / "other.mp4").write_bytes(film.read_bytes())
    benchmark = video([tmp_path / "other.mp4", film], classes=["mug"], hold_out=0, frames_per_step=10)

    steps = told(Stream(benchmark, RandomLabeller(RandomOptions(per_step=0), seed=0), workers=1))

    assert [[round(one[1] / 20) for one in step] for step in steps] == [list(range(10))] * 2
    assert [frame.video for frame, _ in benchmark.frames_of(1)] == ["film"] * 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"source": []}, "at least one video"),
        ({"source": ["film.mp4", "rtsp://host/1"]}, "has no end"),
        ({"source": "film.mp4", "test_every": 1}, "nothing would be left to learn from"),
    ],
)
def test_options_that_make_no_stream_are_told(options, said):
    with pytest.raises(ValidationError, match=said):
        VideoOptions.model_validate(options)
