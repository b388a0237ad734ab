"""What is written for another tool keeps every box, class and frame: read back here, and read by others' libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import yaml
from PIL import Image as PillowImage

from leocod.benchmarks.base import Benchmark
from leocod.benchmarks.coco_video import CocoVideo, CocoVideoOptions
from leocod.benchmarks.video import Video, VideoOptions
from leocod.benchmarks.voc import Voc, VocOptions
from leocod.data.check import check
from leocod.data.convert import ToolFormat, convert
from leocod.data.layouts import find_pictures
from leocod.errors import InvalidData
from leocod.files.strict_xml import parse_xml
from leocod.types import Labels

FORMATS: tuple[ToolFormat, ...] = get_args(ToolFormat)
CLASSES = ("mug", "<book> & 'jar'", "7", "日本")
SIZES = [(12, 20), (20, 12)]
THIRDS = [[1 / 3, 0.1, 10 / 3, 11.7], [2, 3.3, 7.7, 9.1], [0, 0, 12, 12], [0, 0, 1, 1]]
"""Corners that no decimal number of a few digits gives, and the whole of a frame."""

FRAMES = 12


def pixels(number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 255, (*SIZES[number % 2], 3), dtype=np.uint8)


@pytest.fixture
def source(tmp_path: Path, a_json: Callable[..., Path]) -> CocoVideo:
    """Two videos with frames of the same names; a few are empty, and one is not labelled. Two frames are held out."""
    images, annotations = [], []
    for number in range(FRAMES):
        video, (height, width) = number // 6, SIZES[number % 2]
        name = f"walk {video}/{number % 6}.png"
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        PillowImage.fromarray(pixels(number)).save(path)
        image = {"id": number, "file_name": name, "video_id": video, "height": height, "width": width}
        images.append({**image, "labelled": number != 4})
        for place, (x1, y1, x2, y2) in enumerate(THIRDS[: number % 5 if number != 4 else 0]):
            box = [x1, y1, x2 - x1, y2 - y1]
            one = {"id": len(annotations), "image_id": number, "bbox": box, "category_id": (number + place) % 4}
            annotations.append(one)
    categories = [{"id": number, "name": name} for number, name in enumerate(CLASSES)]
    content = {"categories": categories, "images": images, "annotations": annotations}
    file = a_json(tmp_path / "source.json", content)
    return CocoVideo(CocoVideoOptions(annotations=file, frames_per_step=5, hold_out=1), seed=0)


def list_frames(benchmark: Benchmark) -> dict[bytes, tuple[tuple[str, ...], Labels]]:
    """Frames by their pixels, with their labels."""
    pairs = [pair for step in range(benchmark.steps) for pair in benchmark.frames_of(step)]
    return {
        frame.image().tobytes(): (tuple(benchmark.classes[number] for number in labels.classes), labels)
        for frame, labels in (*pairs, *benchmark.test)
    }


def reread(out: Path, to: ToolFormat) -> Benchmark:
    if to == "voc":
        return Voc(VocOptions(root=out, hold_out=0), seed=0)
    return Video(VideoOptions(source=find_pictures(out), labels=out, hold_out=0), seed=0)


def assert_same(old: Benchmark, new: Benchmark, *, off: float) -> None:
    before, after = list_frames(old), list_frames(new)
    assert set(after) == set(before)
    assert len(after) == FRAMES
    for key, (names, labels) in before.items():
        assert after[key][0] == names
        assert after[key][1].known == labels.known
        np.testing.assert_allclose(after[key][1].boxes, labels.boxes, atol=off, rtol=0)


@pytest.mark.parametrize("to", FORMATS)
def test_every_box_class_and_frame_comes_back(source: CocoVideo, tmp_path: Path, to: ToolFormat) -> None:
    convert(source, tmp_path / "out", to=to, labels={})

    assert_same(source, reread(tmp_path / "out", to), off=1e-5)


@pytest.mark.parametrize("to", FORMATS)
def test_coco_to_a_tool_and_back_to_coco_keeps_them_too(source: CocoVideo, tmp_path: Path, to: ToolFormat) -> None:
    convert(source, tmp_path / "there", to=to, labels={})
    convert(reread(tmp_path / "there", to), tmp_path / "back", to="coco", labels={})
    back = CocoVideo(CocoVideoOptions(annotations=tmp_path / "back" / "annotations.json"), seed=0)

    assert_same(source, back, off=1e-5)


@pytest.mark.parametrize("to", FORMATS)
def test_the_labels_alone_fit_the_frames_that_they_came_from(source: CocoVideo, tmp_path: Path, to: ToolFormat) -> None:
    convert(source, tmp_path / "out", to=to, labels={})
    options = VideoOptions(source=tmp_path / "images", labels=tmp_path / "out", hold_out=0)

    assert_same(source, Video(options, seed=0), off=1e-5)


@pytest.mark.parametrize("to", FORMATS)
def test_nothing_is_wrong_with_what_is_written(source: CocoVideo, tmp_path: Path, to: ToolFormat) -> None:
    convert(source, tmp_path / "out", to=to, labels={})

    findings = check(tmp_path / "out")

    assert findings.layout == to
    assert not findings.breaks
    assert findings.recording is not None
    assert sum(entry.labels is None for entry in findings.recording.entries) == 1


@pytest.mark.parametrize("to", FORMATS)
def test_pictures_have_names_that_are_unique_without_their_folders(
    source: CocoVideo, tmp_path: Path, to: ToolFormat
) -> None:
    convert(source, tmp_path / "out", to=to, labels={})

    names = [file.name for file in (tmp_path / "out").rglob("*.png")]
    assert len({*names}) == len(names) == FRAMES
    assert "0_3.png" in names


@pytest.mark.parametrize("to", FORMATS)
def test_a_photo_is_written_as_its_boxes_were_drawn(
    tmp_path: Path, a_json: Callable[..., Path], to: ToolFormat
) -> None:
    """Without its note on how to turn it, which `coco_video` does not follow, and most tools do."""
    note = PillowImage.Exif()
    note[0x0112] = 6
    PillowImage.fromarray(pixels(0)).save(tmp_path / "a.png", exif=note)
    content = {
        "categories": [{"id": 1, "name": "mug"}],
        "images": [{"id": 1, "file_name": "a.png"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [15, 1, 4, 4]}],
    }
    before = CocoVideo(CocoVideoOptions(annotations=a_json(tmp_path / "a.json", content)), seed=0)

    convert(before, tmp_path / "out", to=to, labels={})

    ((frame, labels),) = reread(tmp_path / "out", to).frames_of(0)
    np.testing.assert_array_equal(frame.image(), pixels(0))
    assert labels.boxes.tolist() == [[15, 1, 19, 5]]


def test_yolo_is_as_ultralytics_wants_it(source: CocoVideo, tmp_path: Path) -> None:
    convert(source, tmp_path / "out", to="yolo", labels={})

    out = tmp_path / "out"
    assert yaml.safe_load((out / "data.yaml").read_text()) == {
        "train": "images/train",
        "val": "images/val",
        "names": dict(enumerate(CLASSES)),
    }
    stems = {part: {file.stem for file in (out / "images" / part).iterdir()} for part in ("train", "val", "unlabelled")}
    assert [len(stems[part]) for part in ("train", "val", "unlabelled")] == [9, 2, 1]
    # No file would mean "nothing here" to a trainer, so every labelled frame has one, and no other.
    for part in ("train", "val"):
        assert {file.stem for file in (out / "labels" / part).iterdir()} == stems[part]
    assert not (out / "labels" / "unlabelled").exists()
    assert (out / "labels" / "train" / "0_0.txt").read_text() == ""
    words = (out / "labels" / "train" / "0_1.txt").read_text().split()
    assert words[0] == "1"
    assert [float(word) for word in words[1:]] == pytest.approx([11 / 72, 0.295, 0.25, 0.58], abs=1e-7)


def test_yolo_without_test_frames_is_validated_on_what_it_learns(tmp_path: Path, source: CocoVideo) -> None:
    options = source.options.model_copy(update={"hold_out": 0})

    convert(CocoVideo(options, seed=0), tmp_path / "out", to="yolo", labels={})

    assert yaml.safe_load((tmp_path / "out" / "data.yaml").read_text())["val"] == "images/train"


def test_voc_lists_say_the_order_of_the_stream(source: CocoVideo, tmp_path: Path) -> None:
    convert(source, tmp_path / "out", to="voc", labels={})

    again = Voc(VocOptions(root=tmp_path / "out", sets=("stream",), frames_per_step=5), seed=0)

    for step in range(2):
        for (old, _), (new, _) in zip(source.frames_of(step), again.frames_of(step), strict=True):
            np.testing.assert_array_equal(old.image(), new.image())
    assert len(again.test) == 2
    assert (tmp_path / "out" / "ImageSets" / "Main" / "test.txt").read_text() == "0_5\n1_5\n"


def test_cvat_numbers_pictures_in_the_order_of_their_names(source: CocoVideo, tmp_path: Path) -> None:
    convert(source, tmp_path / "out", to="cvat", labels={})

    root = parse_xml((tmp_path / "out" / "annotations.xml").read_text())
    images = {image.attributes["name"]: int(image.attributes["id"]) for image in root.list_children("image")}
    names = sorted(file.name for file in (tmp_path / "out" / "images").iterdir())
    assert images == {name: number for number, name in enumerate(names) if name != "0_4.png"}
    labels = json.loads((tmp_path / "out" / "labels.json").read_text())
    assert [label["name"] for label in labels] == list(CLASSES)


def test_label_studio_gets_tasks_for_what_is_still_to_be_labelled(source: CocoVideo, tmp_path: Path) -> None:
    convert(source, tmp_path / "out", to="label-studio", labels={})

    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    todo = [task["data"]["image"] for task in tasks if not task["annotations"]]
    assert todo == ["/data/local-files/?d=images/0_4.png"]
    config = parse_xml((tmp_path / "out" / "label_config.xml").read_text())
    image, labels = config.children
    assert (image.attributes["name"], image.attributes["value"]) == ("image", "$image")
    assert [label.attributes["value"] for label in labels.children] == list(CLASSES)
    result = next(task for task in tasks if task["annotations"] and task["annotations"][0]["result"])
    described = result["annotations"][0]["result"][0]
    assert (described["from_name"], described["to_name"]) == (labels.attributes["name"], image.attributes["name"])


@pytest.mark.parametrize("to", FORMATS)
def test_nothing_is_left_when_it_fails(source: CocoVideo, tmp_path: Path, to: ToolFormat) -> None:
    (tmp_path / "images" / "walk 1" / "3.png").unlink()

    with pytest.raises(InvalidData, match=r"3\.png"):
        convert(source, tmp_path / "out", to=to, labels={})

    assert not (tmp_path / "out").exists()
    assert not [*tmp_path.glob("*.part"), *tmp_path.glob(".*")]


class TestLabelformat:
    """A library of others that reads and writes these formats."""

    @pytest.fixture
    def formats(self) -> Any:
        return pytest.importorskip(
            "labelformat.formats", reason="labelformat is not installed: files of another library are not compared"
        )

    def read(self, formats: Any, out: Path, to: str) -> Iterator[Any]:
        if to == "cvat":
            return formats.CVATObjectDetectionInput(out / "annotations.xml").get_labels()
        if to == "coco":
            return formats.COCOObjectDetectionInput(out / "annotations.json").get_labels()
        if to == "voc":
            return formats.PascalVOCObjectDetectionInput(out / "Annotations", ",".join(CLASSES)).get_labels()
        parts = [formats.YOLOv8ObjectDetectionInput(out / "data.yaml", part) for part in ("train", "val")]
        return (image for part in parts for image in part.get_labels())

    @pytest.mark.parametrize("to", ["coco", "yolo", "cvat"])
    def test_it_reads_what_we_write(self, source: CocoVideo, tmp_path: Path, formats: Any, to: Any) -> None:
        convert(source, tmp_path / "out", to=to, labels={})

        found = {
            Path(image.image.filename).stem if to != "coco" else image.image.filename.replace("/", "_")[:-4]: image
            for image in self.read(formats, tmp_path / "out", to)
        }

        pairs = [pair for step in range(2) for pair in source.frames_of(step)] + [*source.test]
        for frame, labels in pairs:
            if labels.known:
                objects = found[f"{frame.video}_{frame.index}"].objects
                assert [one.category.name for one in objects] == [CLASSES[number] for number in labels.classes]
                corners = [[one.box.xmin, one.box.ymin, one.box.xmax, one.box.ymax] for one in objects]
                np.testing.assert_allclose(np.reshape(corners, (-1, 4)), labels.boxes, atol=1e-5)

    @pytest.mark.parametrize("to", ["yolo", "cvat", "voc"])
    def test_we_read_what_it_writes(self, source: CocoVideo, tmp_path: Path, formats: Any, to: str) -> None:
        convert(source, tmp_path / "out", to="cvat", labels={})
        given = formats.CVATObjectDetectionInput(tmp_path / "out" / "annotations.xml")
        theirs = tmp_path / "theirs"
        if to == "yolo":
            formats.YOLOv8ObjectDetectionOutput(theirs / "data.yaml", "train").save(given)
        elif to == "cvat":
            formats.CVATObjectDetectionOutput(theirs, "task").save(given)
        else:
            formats.PascalVOCObjectDetectionOutput(theirs).save(given)

        options = VideoOptions(source=tmp_path / "out" / "images", labels=theirs, hold_out=0)

        # It writes whole pixels to VOC, and counts them from 0.
        assert_same(source, Video(options, seed=0), off=2 if to == "voc" else 1e-3)
