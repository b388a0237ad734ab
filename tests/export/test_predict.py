import io
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image as PillowImage
from rich.console import Console

from leocod.errors import InvalidData, RunExists
from leocod.export import predict as module
from leocod.export.predict import BATCH, Predicted, check_source, make_progress, predict, read_images
from leocod.types import Detections, Image


def one_mug(images: Sequence[Image]) -> list[Detections]:
    """Sure of a mug in the corner, and not so sure of another one."""
    boxes = np.array([[1, 2, 11, 12], [5, 5, 9, 9]], np.float32)
    return [Detections(boxes, np.array([0, 0]), np.array([0.9, 0.2], np.float32)) for _ in images]


def picture(path: Path, size: tuple[int, int] = (24, 32)) -> Path:
    PillowImage.fromarray(np.full((*size, 3), 128, np.uint8)).save(path)
    return path


def video(path: Path, frames: int) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(frames):
            image = np.full((48, 64, 3), 5 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return path


def test_an_image_gets_its_picture_and_its_detections(tmp_path: Path) -> None:
    source = picture(tmp_path / "desk.jpg")

    assert predict(source, tmp_path / "out", one_mug, ("mug",), threshold=0.5).frames == 1

    found = json.loads((tmp_path / "out" / "detections.json").read_text())
    assert found["images"] == [{"id": 0, "file_name": "desk.jpg", "height": 24, "width": 32}]
    (only,) = found["annotations"]
    assert (only["image_id"], only["category_id"], only["bbox"]) == (0, 1, [1.0, 2.0, 10.0, 10.0])
    with PillowImage.open(tmp_path / "out" / "desk.png") as drawn:
        assert drawn.width == 640


def test_a_folder_is_looked_at_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("b.png", "a.png", "a.jpg"):
        picture(tmp_path / "in" / name)
    (tmp_path / "in" / "notes.txt").write_text("not an image")

    assert predict(tmp_path / "in", tmp_path / "out", one_mug, ("mug",), threshold=0.1).frames == 3

    found = json.loads((tmp_path / "out" / "detections.json").read_text())
    assert [image["file_name"] for image in found["images"]] == ["a.jpg", "a.png", "b.png"]
    assert len(found["annotations"]) == 6
    assert {file.name for file in (tmp_path / "out").glob("*.png")} == {"a.png", "a-2.png", "b.png"}


def test_the_numbers_in_names_count(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("IMG_10.png", "IMG_9.png"):
        picture(tmp_path / "in" / name)

    assert [one.name for one in read_images(tmp_path / "in")] == ["IMG_9.png", "IMG_10.png"]


def test_how_many_objects_were_found_is_told(tmp_path: Path) -> None:
    told: list[str] = []

    predict(picture(tmp_path / "a.png"), tmp_path / "low", one_mug, ("mug",), threshold=0.1, tell=told.append)
    predict(tmp_path / "a.png", tmp_path / "high", one_mug, ("mug",), threshold=1, tell=told.append)

    assert told[:2] == ["2 objects in 1 of 1 frame.", "0 objects in 0 of 1 frame."]
    assert told[2:] == ["The best score is 0.90 and the threshold 1: a lower --threshold shows more."]


def test_a_video_becomes_a_video_of_the_same_length_and_rate(tmp_path: Path) -> None:
    frames = BATCH + 3
    source = video(tmp_path / "walk.mp4", frames)

    assert predict(source, tmp_path / "out", one_mug, ("mug",), threshold=0.5).frames == frames

    with av.open(str(tmp_path / "out" / "walk.mp4")) as container:
        assert container.streams.video[0].average_rate == 10
        assert sum(1 for _ in container.decode(video=0)) == frames
    assert len(json.loads((tmp_path / "out" / "detections.json").read_text())["annotations"]) == frames


def test_what_cannot_be_looked_at_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "b.png").write_bytes(b"not a picture")
    (tmp_path / "notes.txt").write_text("not a video")

    for name, complaint in {
        "none.png": "No file or folder",
        "empty": "holds no images",
        "broken": r"holds no image that can be read. .*b.png is not a readable image",
        "broken/b.png": r"b.png is not a readable image",
        "notes.txt": "not a readable video, nor an image",
    }.items():
        with pytest.raises(InvalidData, match=complaint):
            predict(tmp_path / name, tmp_path / "out", one_mug, ("mug",), threshold=0.5)

    assert not (tmp_path / "out").exists()


def test_the_threshold_is_a_share(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="threshold is 50"):
        predict(picture(tmp_path / "a.png"), tmp_path / "out", one_mug, ("mug",), threshold=50)


def test_a_photo_of_a_turned_phone_is_looked_at_upright(tmp_path: Path) -> None:
    pixels = np.zeros((24, 32, 3), np.uint8)
    pixels[:, :16] = 255
    tag = PillowImage.Exif()
    # To be turned by 90 degrees clockwise.
    tag[0x0112] = 6
    PillowImage.fromarray(pixels).save(tmp_path / "phone.png", exif=tag)

    (picture,) = read_images(tmp_path / "phone.png")
    predict(tmp_path / "phone.png", tmp_path / "out", one_mug, ("mug",), threshold=0.5)

    assert picture.image.shape == (32, 24, 3)
    assert picture.image[:16].min() == 255
    assert picture.image[16:].max() == 0
    found = json.loads((tmp_path / "out" / "detections.json").read_text())
    assert (found["images"][0]["height"], found["images"][0]["width"]) == (32, 24)


def test_a_huge_image_is_refused_by_its_header(tmp_path: Path) -> None:
    PillowImage.new("1", (9000, 8000)).save(tmp_path / "poster.png")

    with pytest.raises(InvalidData, match="poster.png has more than 64 million pixels. Make it smaller"):
        check_source(tmp_path / "poster.png")


def test_an_image_of_a_folder_that_cannot_be_read_is_named_and_the_others_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
        PillowImage.fromarray(noise).save(tmp_path / "in" / name)
    whole = (tmp_path / "in" / "b.jpg").read_bytes()
    (tmp_path / "in" / "b.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "in" / "d.png").write_bytes(b"not a picture")

    summary = predict(tmp_path / "in", tmp_path / "out", one_mug, ("mug",), threshold=0.5)

    assert summary.frames == 2
    truncated, unknown = summary.unreadable
    assert "b.jpg is not a readable image (image file is truncated" in truncated
    assert "d.png is not a readable image (unknown format)" in unknown
    found = json.loads((tmp_path / "out" / "detections.json").read_text())
    assert [image["file_name"] for image in found["images"]] == ["a.jpg", "c.jpg"]
    assert {annotation["image_id"] for annotation in found["annotations"]} == {0, 1}


def test_pictures_of_different_sizes_are_not_looked_at_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_PIXELS", 3 * 24 * 32)
    for name, size in {"a": (24, 32), "b": (24, 32), "c": (32, 24), **dict.fromkeys("defg", (24, 32))}.items():
        picture(tmp_path / f"{name}.png", size)
    batches = []

    def noted(together: Sequence[Image]) -> list[Detections]:
        batches.append([image.shape[:2] for image in together])
        return one_mug(together)

    predict(tmp_path, tmp_path / "out", noted, ("mug",), threshold=0.5)

    assert batches == [[(24, 32)] * 2, [(32, 24)], [(24, 32)] * 3, [(24, 32)]]


def test_progress_can_be_tracked(tmp_path: Path) -> None:
    told: list[object] = []

    def track(predicted: Iterator[Predicted], total: int | None) -> Iterable[Predicted]:
        told.append(total)
        for one in predicted:
            told.append(one[0].name)
            yield one

    predict(video(tmp_path / "walk.mp4", 2), tmp_path / "out", one_mug, ("mug",), threshold=0.5, track=track)

    assert told == [2, "walk_000000", "walk_000001"]


def test_the_progress_line_has_count_and_rate() -> None:
    text = io.StringIO()

    with make_progress(Console(file=text, width=100, force_terminal=True)) as progress:
        task = progress.add_task("", total=3)
        for _ in range(3):
            time.sleep(0.001)
            progress.advance(task)

    assert "3/3" in text.getvalue()
    assert "frames/s" in text.getvalue() or "s/frame" in text.getvalue()


def test_the_frames_of_a_video_have_their_time(tmp_path: Path) -> None:
    predict(video(tmp_path / "walk.mp4", 3), tmp_path / "out", one_mug, ("mug",), threshold=0.5)

    found = json.loads((tmp_path / "out" / "detections.json").read_text())
    assert [image["seconds"] for image in found["images"]] == [0.0, 0.1, 0.2]


def test_a_video_that_changes_its_size_keeps_boxes_in_pixels_of_each_frame(tmp_path: Path) -> None:
    joined = b""
    for size in ((48, 64), (80, 32)):
        encoded = io.BytesIO()
        PillowImage.fromarray(np.full((*size, 3), 128, np.uint8)).save(encoded, "JPEG")
        joined += encoded.getvalue()
    (tmp_path / "both.mjpeg").write_bytes(joined)

    assert predict(tmp_path / "both.mjpeg", tmp_path / "out", one_mug, ("mug",), threshold=0.5).frames == 2

    found = json.loads((tmp_path / "out" / "detections.json").read_text())
    assert [(image["height"], image["width"]) for image in found["images"]] == [(48, 64), (80, 32)]


def test_a_video_that_breaks_off_is_told(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "cut.avi"), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(10):
            noise = np.random.default_rng(number).integers(0, 255, (48, 64, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(noise, format="rgb24")))
        container.mux(stream.encode())
    whole = (tmp_path / "cut.avi").read_bytes()
    (tmp_path / "cut.avi").write_bytes(whole[: len(whole) // 2])
    told: list[str] = []

    summary = predict(tmp_path / "cut.avi", tmp_path / "out", one_mug, ("mug",), threshold=0.5, tell=told.append)

    assert 0 < summary.frames < 10
    assert (
        told[0] == f"{tmp_path / 'cut.avi'} could be read up to frame {summary.frames}: it says that it has 10 frames."
    )


def test_what_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    source = picture(tmp_path / "a.png")

    predict(source, tmp_path / "out", one_mug, ("mug",), threshold=0.5)

    with pytest.raises(RunExists, match="already holds other files"):
        predict(source, tmp_path / "out", one_mug, ("mug",), threshold=0.5)


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("..png.png", "two\nlines.png", "\udcff.png", "%s <b>.png", "a\\b.png"):
        picture(tmp_path / "in" / name)

    assert predict(tmp_path / "in", tmp_path / "deep" / "out", one_mug, ("../../mug",), threshold=0.5).frames == 5

    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "in"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    assert len(list((tmp_path / "deep" / "out").iterdir())) == 6


def test_a_name_that_the_disk_refuses_is_told_in_one_line(tmp_path: Path) -> None:
    source = picture(tmp_path / "desk.png")

    with pytest.raises(InvalidData, match="File name too long"):
        predict(source, tmp_path / ("x" * 250), one_mug, ("mug",), threshold=0.5)
