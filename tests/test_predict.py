import json
from collections.abc import Sequence
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.errors import InvalidData
from leocod.predict import BATCH, predict
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

    assert predict(source, tmp_path / "out", one_mug, ("mug",), threshold=0.5) == 1

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

    assert predict(tmp_path / "in", tmp_path / "out", one_mug, ("mug",), threshold=0.1) == 3

    found = json.loads((tmp_path / "out" / "detections.json").read_text())
    assert [image["file_name"] for image in found["images"]] == ["a.jpg", "a.png", "b.png"]
    assert len(found["annotations"]) == 6
    assert {file.name for file in (tmp_path / "out").glob("*.png")} == {"a.png", "a-2.png", "b.png"}


def test_a_video_becomes_a_video_of_the_same_length_and_rate(tmp_path: Path) -> None:
    frames = BATCH + 3
    source = video(tmp_path / "walk.mp4", frames)

    assert predict(source, tmp_path / "out", one_mug, ("mug",), threshold=0.5) == frames

    with av.open(str(tmp_path / "out" / "walk.mp4")) as container:
        assert container.streams.video[0].average_rate == 10
        assert sum(1 for _ in container.decode(video=0)) == frames
    assert len(json.loads((tmp_path / "out" / "detections.json").read_text())["annotations"]) == frames


def test_what_cannot_be_looked_at_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    picture(tmp_path / "broken" / "a.png")
    (tmp_path / "broken" / "b.png").write_bytes(b"not a picture")
    (tmp_path / "notes.txt").write_text("not a video")

    for name, complaint in {
        "none.png": "No file or folder",
        "empty": "holds no images",
        "broken": r"b.png is not a readable image",
        "notes.txt": "neither an image nor a readable video",
    }.items():
        with pytest.raises(InvalidData, match=complaint):
            predict(tmp_path / name, tmp_path / "out", one_mug, ("mug",), threshold=0.5)

    assert not (tmp_path / "out").exists()


def test_the_threshold_is_a_share(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="threshold is 50"):
        predict(picture(tmp_path / "a.png"), tmp_path / "out", one_mug, ("mug",), threshold=50)
