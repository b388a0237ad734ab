"""Labels as CVAT writes them: the XML of "CVAT for images 1.1" and of "CVAT for video 1.1"."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from leocod.errors import InvalidData
from leocod.files.documents import DATA
from leocod.files.strict_xml import Element, parse_xml
from leocod.readers.annotations import parse_number
from leocod.readers.coco import read_stated_size
from leocod.readers.labels.base import LabelledImage, LabelledObject, LabelSet, count_left_out, find_xml_root
from leocod.readers.recording import Instance, Report
from leocod.text import one_line, shorten

NAME = "CVAT"

FILE = "annotations.xml"
"""What CVAT calls the file in its archives."""

LARGEST = 256 * 1024**2
"""Bytes of the largest file; a box has about 150."""

MOST = 1_000_000
"""Elements of the largest file."""

SHAPES = ("box", "polygon", "polyline", "points", "ellipse", "cuboid", "skeleton", "mask")

FRAME = re.compile(r"frame_([0-9]{6,9})(\.[A-Za-z]+)?")
"""What CVAT calls frame 12 of a video: frame_000012."""


def recognise(path: Path) -> bool:
    """An XML file of annotations, or a folder with annotations.xml in it."""
    return find_xml_root(path / FILE if path.is_dir() else path) == "annotations"


def read(path: Path, report: Report) -> LabelSet:
    """Read the images, or the boxes of tracks by frame.

    Tracks have a box for every frame already, also between key frames. A box that is `outside` is not there.
    """
    file = path / FILE if path.is_dir() else path
    try:
        root = parse_xml(DATA.read_text(file, largest=LARGEST), most=MOST)
        if root.name != "annotations":
            raise ValueError(f"it holds <{one_line(root.name, 60)}>: it should hold <annotations>, as CVAT has it")
        task = _find_task(root)
        labels = task.find_child("labels") or Element("")
        listed = [name for label in labels.list_children("label") if (name := label.find_text("name"))]
        original_size = task.find_child("original_size")
        count = parse_number(task.find_text("size"))
    except ValueError as error:
        raise DATA.make_error(file, error, "Export it again, as CVAT for images 1.1 or CVAT for video 1.1.") from error
    shapes: list[str] = []
    is_video = original_size is not None or bool(task.list_children("source"))
    images = [_read_image(element, file, shapes, is_video=is_video) for element in root.list_children("image")]
    tracked = _read_tracks(root.list_children("track"), file, shapes, original_size)
    for image in tracked:
        image.count = count if isinstance(count, int) else None
    images += tracked
    found = {thing.category for image in images for thing in image.objects or () if thing.category}
    names = dict.fromkeys(listed) if listed else dict.fromkeys(sorted(found))
    return LabelSet(file, {name: name for name in names}, "under <labels>", images, count_left_out(shapes))


def _find_task(root: Element) -> Element:
    """Find what describes the task: it may be a task of its own, a part of one, or one of a project."""
    meta = root.find_child("meta") or Element("")
    return next((child for child in meta.children if child.name in ("task", "job", "project")), Element(""))


def _read_image(element: Element, file: Path, shapes: list[str], *, is_video: bool) -> LabelledImage:
    name = element.attributes.get("name")
    image = LabelledImage(file, f"image {shorten(name)}", name)
    if is_video and name is not None and (match := FRAME.fullmatch(name)):
        image.number = int(match[1])
    image.size = _read_size(element.attributes, image)
    boxes = _choose_boxes(element, shapes)
    image.objects = [
        _make_object(f"box {number}", box, box.attributes.get("label")) for number, box in enumerate(boxes, start=1)
    ]
    return image


def _read_tracks(
    tracks: list[Element], file: Path, shapes: list[str], original_size: Element | None
) -> list[LabelledImage]:
    """Gather the boxes of all tracks by frame. Every frame that a track names is labelled, the others are not."""
    if len(tasks := {track.attributes.get("task_id") for track in tracks}) > 1:
        raise InvalidData(
            f"{one_line(file)}: it has tracks of {len(tasks)} tasks, each of which counts frames from 0. "
            "Export the one task."
        )
    found: dict[int, list[LabelledObject]] = {}
    for place, track in enumerate(tracks):
        id = track.attributes.get("id", str(place))
        for box in _choose_boxes(track, shapes):
            frame = box.attributes.get("frame", "")
            if not re.fullmatch("[0-9]{1,9}", frame):
                where = f"{one_line(file)}, track {one_line(id, 60)}"
                raise InvalidData(f"{where}: a box is of frame {shorten(frame)}: it should be a number.")
            there = found.setdefault(int(frame), [])
            if box.attributes.get("outside") != "1":
                thing = _make_object(f"track {one_line(id, 60)}", box, track.attributes.get("label"))
                there.append(thing._replace(find_instance=partial(_name_instance, id)))
    sides = {} if original_size is None else {child.name: child.text for child in original_size.children}
    images = []
    for number in sorted(found):
        image = LabelledImage(file, f"frame {number}", None, number, objects=found[number])
        image.size = _read_size(sides, image)
        images.append(image)
    return images


def _choose_boxes(element: Element, shapes: list[str]) -> list[Element]:
    """Return the upright boxes of an image or a track; the other shapes are counted."""
    boxes = []
    for child in element.children:
        is_outside = child.attributes.get("outside") == "1"
        if child.name == "box" and parse_number(child.attributes.get("rotation", "0")) == 0:
            boxes.append(child)
        elif child.name in SHAPES and not is_outside:
            shapes.append("rotated boxes" if child.name == "box" else child.name)
    return boxes


def _make_object(record: str, box: Element, label: str | None) -> LabelledObject:
    corners = [parse_number(box.attributes.get(key)) for key in ("xtl", "ytl", "xbr", "ybr")]
    # As the names in the list, which lose blanks around them.
    return LabelledObject(record, label and label.strip(), corners, "xyxy")


def _name_instance(id: str, video: str) -> Instance:
    return video, id


def _read_size(sides: dict[str, str], image: LabelledImage) -> tuple[int, int] | None:
    return read_stated_size({key: parse_number(sides.get(key)) for key in ("height", "width")}, image.notes)
