"""Whatever a value in a file is replaced by, reading ends in frames or in one line that says what is wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.benchmarks.base import Recorded
from leocod.benchmarks.coco_video import CocoVideo
from leocod.benchmarks.egoobjects import EgoObjects
from leocod.benchmarks.oak import Oak
from leocod.benchmarks.video import Video
from leocod.data.check import check
from leocod.errors import LeocodError
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream

ODD = (None, [], {}, "\ud800", 2**2000, float("nan"), -1, "x\n")

Place = tuple[str | int, ...]


def picture(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    PillowImage.fromarray(np.full((6, 8, 3), 90, np.uint8)).save(path)


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


COCO = {
    "videos": [{"id": 1, "name": "walk"}],
    "categories": [{"id": 1, "name": "mug"}],
    "images": [
        {"id": n, "file_name": f"{n}.png", "height": 6, "width": 8, "video_id": 1, "frame_id": n} for n in (1, 2)
    ],
    "annotations": [{"id": 5, "image_id": 1, "category_id": 1, "bbox": [1, 1, 3, 4], "iscrowd": 0}],
}


def coco(root: Path) -> Path:
    for number in (1, 2):
        picture(root / "images" / f"{number}.png")
    write(root / "labels.json", COCO)
    return root / "labels.json"


def told_steps(root: Path) -> Path:
    images = [
        {**image, "step": 0, "held_out": number == 1, "labelled": True} for number, image in enumerate(COCO["images"])
    ]
    coco(root)
    write(root / "labels.json", {**COCO, "images": images})
    return root / "labels.json"


def chosen(root: Path) -> Path:
    told_steps(root)
    write(root / "labels_1.json", {"frames": {"0": [1]}})
    return root / "labels_1.json"


def egoobjects(root: Path) -> Path:
    coco(root)
    (root / "labels.json").unlink()
    images = [{**image, "url": f"https://there/{image['id']}.png"} for image in COCO["images"]]
    for image in images[1:]:
        del image["file_name"]
    write(root / "EgoObjects_train.json", {**COCO, "images": images})
    return root / "EgoObjects_train.json"


def metadata(root: Path) -> Path:
    egoobjects(root)
    write(root / "EgoObjects_metadata.json", {"cat_det_cats": [{"id": 1, "name": "mug"}]})
    return root / "EgoObjects_metadata.json"


def oak(root: Path) -> Path:
    for number in (1, 2):
        picture(root / "Raw" / "0" / f"day_{number}.jpg")
        box = {"x1": 1, "y1": 1, "x2": 3, "y2": 4}
        write(root / "Label" / "0" / f"day_{number}.json", [{"id": number, "category": "mug", "box2d": box}])
    return root / "Label" / "0" / "day_1.json"


def processed(root: Path) -> Path:
    rows = []
    for number in (1, 2):
        picture(root / "set" / "images" / f"{number}.png")
        marks = [{"category": "mug", "bbox": [1, 1, 3, 4], "bbox_mode": 0}]
        frame = {"file_name": f"{number}.png", "height": 6, "width": 8, "image_id": number, "video": "walk"}
        write(root / "set" / "annotations" / f"{number}.json", {**frame, "labelled": True, "annotations": marks})
        rows.append(f"step_00000,set/annotations/{number}.json")
    (root / "set" / "train_anno1.csv").write_text(f"step_name,json_file,oracle\n{rows[0]},1\n")
    (root / "set" / "test.csv").write_text(f"step_name,json_file\n{rows[1]}\n")
    write(root / "set" / "mapping.json", {"mug": 0})
    return root / "set" / "annotations" / "1.json"


def mapping(root: Path) -> Path:
    processed(root)
    return root / "set" / "mapping.json"


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Of every value in a file, the whole file first; of a list, only the first one: the others are alike."""
    yield here
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*here, key))


def replaced(content: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    content = copy.deepcopy(content)
    inside = content
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return content


def used(benchmark: Recorded) -> None:
    """As a run uses it."""
    benchmark.lost_test_frames + benchmark.unlabelled_test_frames + len(benchmark.test_steps())
    for step in Stream(benchmark, RandomLabeller(RandomOptions(per_step=1), seed=0)).steps():
        "".join((*benchmark.classes, *(frame.video for frame in step.frames))).encode()


def outcome(act: Callable[[], None]) -> str:
    """What an act says, if it must."""
    try:
        act()
    except LeocodError as error:
        return str(error)
    return ""


def in_split(kind: type[Recorded], **options: Any) -> Callable[[Path, str], Recorded]:
    """How a benchmark of one frame a step, and one held out, is made of a data set."""

    def made(root: Path, on_bad_frame: str) -> Recorded:
        named = {key: root / value for key, value in options.items()}
        chosen = kind.Options(**named, on_bad_frame=on_bad_frame, frames_per_step=1)
        return kind(chosen, seed=0)

    return made


@pytest.mark.parametrize(
    ("make", "read", "layout"),
    [
        (told_steps, in_split(CocoVideo, annotations="labels.json"), "coco"),
        (chosen, in_split(CocoVideo, annotations="labels.json"), "coco"),
        (coco, in_split(Video, source="images", labels="labels.json"), "folder"),
        (egoobjects, in_split(EgoObjects, root=""), "egoobjects"),
        (metadata, in_split(EgoObjects, root=""), "egoobjects"),
        (oak, in_split(Oak, root=""), "oak"),
        (processed, in_split(Oak, root=""), "processed"),
        (mapping, in_split(Oak, root=""), "processed"),
    ],
    ids=["coco", "chosen", "folder", "egoobjects", "metadata", "oak", "processed", "mapping"],
)
def test_no_value_in_a_file_ends_in_anything_but_frames_or_one_line(
    tmp_path: Path, make: Callable[[Path], Path], read: Callable[[Path, str], Recorded], layout: Any
) -> None:
    file = make(tmp_path)
    content = json.loads(file.read_text())
    used(read(tmp_path, "stop"))

    for place in places(content):
        for value in ODD:
            write(file, replaced(content, place, value))
            for on_bad_frame in ("stop", "skip"):
                assert outcome(lambda mode=on_bad_frame: used(read(tmp_path, mode))).isprintable()
            if layout == "folder":
                findings = check(tmp_path / "images", labels=file, quick=True)
            elif layout == "coco":
                findings = check(tmp_path / "labels.json", quick=True)
            else:
                findings = check(tmp_path, layout, quick=True)
            assert all(line.isprintable() for line in findings.lines(9))
