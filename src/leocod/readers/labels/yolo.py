"""Labels as YOLO has them: a list of classes, and a text file for each image with a line for each object."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import Any

from leocod.errors import InvalidConfig, InvalidData
from leocod.files.documents import DATA, parse_yaml
from leocod.files.paths import Root
from leocod.readers.annotations import parse_number
from leocod.readers.classes import EMPTY
from leocod.readers.labels.base import LabelledImage, LabelledObject, LabelSet, count_left_out, list_files
from leocod.readers.recording import Report
from leocod.readers.voc_objects import LARGEST_FRAME
from leocod.text import one_line, shorten, strip_file_name

NAME = "YOLO"

YAML_LISTS = ("data.yaml", "data.yml", "dataset.yaml")
TEXT_LISTS = ("classes.txt", "obj.names")

LARGEST_LIST = 1_000_000
"""Bytes of the largest list of classes."""

FOLDER = re.compile(r"labels|obj_.*_data", re.IGNORECASE)
"""Folders that hold label files: those of Ultralytics and most tools, and those of Darknet."""

NO_LABELS = re.compile(r"(classes|train|val|valid|test|readme.*)\.txt", re.IGNORECASE)
"""Text files beside label files that are none."""


def recognise(path: Path) -> bool:
    """A folder with a list of classes (data.yaml, classes.txt, obj.names), or with text files in a folder `labels`."""
    if not path.is_dir():
        return False
    folders = [path] if _is_inside(path) else [folder for folder in path.iterdir() if FOLDER.fullmatch(folder.name)]
    return _find_list(path) is not None or any(any(folder.rglob("*.txt")) for folder in folders)


def read(path: Path, report: Report) -> LabelSet:
    """Read an image of the name of each label file. An empty file is an image that shows nothing.

    Without a list of classes, these have numbers and no names.
    """
    file = _find_list(path)
    root, shapes = Root(path), list[str]()
    images = [_read_image(file, root, shapes) for file in _list_label_files(path)]
    remarks = count_left_out(shapes)
    if file is None:
        where = f"in {', '.join((*YAML_LISTS, *TEXT_LISTS))}"
        return LabelSet(path, {}, where, images, remarks, is_numbered=True)
    names = _read_yaml_list(file) if file.name in YAML_LISTS else _read_text_list(file)
    return LabelSet(path, names, f"in {file.name}", images, remarks, is_numbered=True)


def _find_list(path: Path) -> Path | None:
    """Find the list of classes in a folder, or in the one around it where the folder itself holds label files."""
    folders = [path, *(list(path.absolute().parents)[:2] if _is_inside(path) else ())]
    places = (folder / name for folder in folders for name in (*YAML_LISTS, *TEXT_LISTS))
    return next((place for place in places if place.is_file()), None)


def _read_yaml_list(file: Path) -> dict[int, str]:
    try:
        content = parse_yaml(DATA.read_text(file, largest=LARGEST_LIST))
    except InvalidConfig as error:
        raise DATA.make_error(file, error) from error
    names = content.get("names") if isinstance(content, dict) else None
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict) or not all(type(number) is int for number in names):
        raise InvalidData(f"{one_line(file)}: its names are {shorten(names)}: they should be a list of class names.")
    if empty := [number for number, name in names.items() if name is None or not str(name).strip()]:
        raise InvalidData(f"{one_line(file)}, class {empty[0]} under 'names': {EMPTY}")
    # A class may be called 7, or yes.
    return {number: str(names[number]) for number in sorted(names)}


def _read_text_list(file: Path) -> dict[int, str]:
    lines = [line.strip() for line in DATA.read_text(file, largest=LARGEST_LIST).rstrip().splitlines()]
    if "" in lines:
        raise InvalidData(
            f"{one_line(file)}, line {lines.index('') + 1}: it is empty. It should be the name of a class."
        )
    return dict(enumerate(lines))


def _list_label_files(path: Path) -> list[Path]:
    """List those in the folders for labels; where there is none, those right in the folder."""
    files = [file for file in list_files(path, ".txt") if not NO_LABELS.fullmatch(file.name)]
    apart = [file for file in files if any(map(FOLDER.fullmatch, file.relative_to(path).parts[:-1]))]
    return apart or [file for file in files if file.parent == path or _is_inside(path)]


def _is_inside(path: Path) -> bool:
    """Whether a folder is itself one for labels, such as labels or labels/train."""
    return any(map(FOLDER.fullmatch, path.absolute().parts[-2:]))


def _read_image(file: Path, root: Root, shapes: list[str]) -> LabelledImage:
    relative = file.relative_to(root.path)
    folders = [part for part in relative.parts[:-1] if not FOLDER.fullmatch(part)]
    image = LabelledImage(file, "", PurePath(*folders, relative.name).as_posix())
    if refusal := root.explain_refusal(relative.as_posix()):
        image.notes.add("", refusal, "path")
        return image
    try:
        # An empty file says that nothing is there.
        text = DATA.read_text(file, largest=LARGEST_FRAME) if file.stat().st_size else ""
    except InvalidData as error:
        image.notes.add("", strip_file_name(file, error), "file")
        return image
    image.objects = [
        thing
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and (thing := _parse_line(line, f"line {number}", image, shapes)) is not None
    ]
    return image


def _parse_line(line: str, record: str, image: LabelledImage, shapes: list[str]) -> LabelledObject | None:
    """Return the object of a line; None when it cannot be one, which is noted."""
    values: list[Any] = [parse_number(word) for word in line.split()]
    if len(values) > 6 and len(values) % 2:
        shapes.append("polygons")
        return None
    if len(values) != 5 or not all(type(value) in (int, float) for value in values):
        what = f"it is {shorten(line)}: it should be a class number, then x and y of the centre, width and height."
        image.notes.add(record, what, "box")
        return None
    category, x, y, width, height = values
    return LabelledObject(record, category, [x - width / 2, y - height / 2, width, height], "xywh", "share")
