"""Labels as Label Studio exports them: JSON, a list of tasks with the results of those who labelled them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from leocod.errors import InvalidData
from leocod.files.documents import DATA
from leocod.files.images import SUFFIXES
from leocod.readers.annotations import show_box
from leocod.readers.coco import is_id, read_stated_size
from leocod.readers.labels.base import (
    LabelledImage,
    LabelledObject,
    LabelSet,
    count_left_out,
    find_json,
    peek,
)
from leocod.readers.recording import Report
from leocod.text import one_line, pluralize, shorten

NAME = "Label Studio"

LOCAL = "?d="
"""What stands before the path of a file in the address that Label Studio gives to local files."""


def recognise(path: Path) -> bool:
    """A JSON file with a list in it, or a folder with one such file, and none that may be a COCO file."""
    if path.is_dir():
        return find_json(path, "[") is not None and find_json(path, "{") is None
    return peek(path).startswith("[")


def read(path: Path, report: Report) -> LabelSet:
    """Read the tasks. Class names come in the order of the alphabet; predictions are no labels."""
    file = path if path.is_file() else find_json(path, "[") or path
    tasks = DATA.read_json(file)
    if not isinstance(tasks, list):
        raise InvalidData(f"{one_line(file)}: it should be a list of tasks, as Label Studio exports it as JSON.")
    shapes: list[str] = []
    images, several = [], 0
    for number, task in enumerate(tasks):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict) or "annotations" not in task:
            raise InvalidData(
                f"{one_line(file)}, number {number} of the list: it is {shorten(task)}: it should be a task with "
                "'data' and 'annotations'. Export as JSON, not as JSON-MIN."
            )
        done = _list_done(task)
        several += len(done) > 1
        images.append(_read_task(task, number, done, file, shapes))
    names = sorted({thing.category for image in images for thing in image.objects or () if is_id(thing.category)})
    remarks = count_left_out(shapes)
    if several:
        remarks.append(
            f"{pluralize(several, 'task')} labelled more than once: the ground truth is used, or else the last result."
        )
    return LabelSet(file, {name: name for name in names}, "as rectanglelabels", images, remarks, is_listed=False)


def _list_done(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List what people have handed in for a task; somebody may have skipped it."""
    given = task["annotations"] if isinstance(task["annotations"], list) else []
    return [one for one in given if isinstance(one, dict) and one.get("was_cancelled") is not True]


def _read_task(
    task: Mapping[str, Any], number: int, done: list[Mapping[str, Any]], file: Path, shapes: list[str]
) -> LabelledImage:
    record = f"task {one_line(task['id'], 60)}" if is_id(task.get("id")) else f"number {number} of the list"
    image = LabelledImage(file, record, _find_name(task["data"]))
    if not done:
        image.objects = None
        return image
    chosen = next((one for one in done if one.get("ground_truth") is True), done[-1])
    results = chosen.get("result")
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        image.notes.add("", f"its result is {shorten(results)}: it should be a list of objects.", "file")
        return image
    things = []
    for place, result in enumerate(results, start=1):
        if (shape := _explain_no_box(result)) is not None:
            shapes.append(shape)
        elif (thing := _parse_result(result, f"result {place}", image)) is not None:
            things.append(thing)
            sides = {key: result.get(f"original_{key}") for key in ("height", "width")}
            image.size = image.size or read_stated_size(sides, image.notes)
    image.objects = things
    return image


def _find_name(data: Mapping[str, Any]) -> str | None:
    """Find the picture among the data of a task: `image`, or else the first that is called like one."""
    texts = [data.get("image"), *data.values()]
    names = [_strip_address(text) for text in texts if isinstance(text, str)]
    if isinstance(data.get("image"), str):
        return names[0]
    return next((name for name in names if PurePosixPath(name).suffix.lower() in SUFFIXES), None)


def _strip_address(address: str) -> str:
    """Return the path in an address.

    >>> _strip_address("/data/local-files/?d=walk/a%20b.png"), _strip_address("s3://bucket/a.png?size=2")
    ('walk/a b.png', 's3://bucket/a.png')
    """
    path = address.partition(LOCAL)[2] if LOCAL in address else address.partition("?")[0]
    return unquote(path)


def _explain_no_box(result: Mapping[str, Any]) -> str | None:
    """Say what a result is that is no upright box; None when it is one."""
    value = result.get("value")
    if result.get("type") != "rectanglelabels" or not isinstance(value, dict):
        return str(result.get("type"))
    is_turned = value.get("rotation") not in (None, 0) or result.get("image_rotation") not in (None, 0)
    return "rotated boxes" if is_turned else None


def _parse_result(result: Mapping[str, Any], record: str, image: LabelledImage) -> LabelledObject | None:
    """Return the object of a result; None when it cannot be one, which is noted."""
    value = result["value"]
    percents = [value.get(key) for key in ("x", "y", "width", "height")]
    labels = value.get("rectanglelabels")
    if not all(type(number) in (int, float) and abs(number) < 1e6 for number in percents):
        what = f"the box is {show_box(percents, 'xywh')}: it should be four numbers, in percent."
        image.notes.add(record, what, "box")
    elif not isinstance(labels, list) or len(labels) != 1 or not isinstance(labels[0], str):
        what = f"its rectanglelabels are {shorten(labels)}: it should have one, the name of its class."
        image.notes.add(record, what, "class")
    else:
        return LabelledObject(record, labels[0], [number / 100 for number in percents], "xywh", "share")
    return None
