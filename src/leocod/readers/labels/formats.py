"""The formats of labels, and which of them lies at a path."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from leocod.errors import InvalidData
from leocod.readers.labels import coco, cvat, label_studio, voc, yolo
from leocod.readers.labels.base import LabelFormat, LabelSet, find_xml_root, peek
from leocod.readers.recording import Problem, Report, raise_problem
from leocod.text import one_line, shorten

FORMATS: tuple[LabelFormat, ...] = (yolo, cvat, voc, label_studio, coco)
"""In the order in which they are tried: a folder in YOLO's format may also have a JSON file in it."""

BY_ENDING: dict[str, LabelFormat] = {".json": coco, ".xml": cvat}
"""Who says what is wrong with a damaged file."""


def read_labels(path: Path, report: Report = raise_problem) -> LabelSet:
    """Read labels in any of the formats, which is known by what lies at the path."""
    labels = find_format(path).read(path, report)
    if repeated := [name for name, count in Counter(labels.classes.values()).items() if count > 1]:
        raise InvalidData(
            f"{one_line(path)}: two classes are called {shorten(repeated[0])}. Every class needs a name of its own."
        )
    for remark in labels.remarks:
        report(Problem(labels.path, "", remark, breaks=False, kind="shape"))
    return labels


def find_format(path: Path) -> LabelFormat:
    """Find the format of the labels at a path. An InvalidData says that there is none."""
    if found := next((format for format in FORMATS if format.recognise(path)), None):
        return found
    if find_xml_root(path) == "annotation":
        raise InvalidData(f"{one_line(path)} has the labels of one picture, as Pascal VOC has them. Name its folder.")
    if not path.is_dir() and (by_ending := BY_ENDING.get(path.suffix.lower())):
        return by_ending
    if not path.exists():
        raise InvalidData(f"{one_line(path)}: no such file or folder. It should hold labels.")
    if peek(path).startswith("PK"):
        raise InvalidData(f"{one_line(path)} is an archive. Unpack it, and name the folder.")
    known = ", ".join(format.NAME for format in FORMATS)
    raise InvalidData(f"{one_line(path)} holds no labels in a known format. Known: {known}.")
