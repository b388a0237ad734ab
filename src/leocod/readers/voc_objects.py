"""The objects in an XML file of PASCAL VOC, which describes one picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from leocod.files.documents import DATA
from leocod.files.strict_xml import Element, parse_xml
from leocod.readers.annotations import parse_number
from leocod.readers.coco import read_stated_size
from leocod.readers.recording import Problems
from leocod.text import one_line, shorten

LARGEST_FRAME = 8 * 1024**2
"""Bytes of the largest file of one frame."""


class VocObject(NamedTuple):
    """One object of an XML file, before anything is checked."""

    name: str | None
    box: Any

    def name_record(self, number: int) -> str:
        """Say which object of its file it is, for a message."""
        return f"object {number}{f' ({shorten(self.name)})' if self.name else ''}"


def parse_voc(file: Path) -> Element:
    """Return the annotation that a file holds. An InvalidData or a ValueError says what is wrong with it."""
    try:
        annotation = parse_xml(DATA.read_text(file, largest=LARGEST_FRAME))
    except ValueError as error:
        raise DATA.make_error(file, error, "It should be whole, and XML: copy or write it again.") from error
    if annotation.name != "annotation":
        raise ValueError(
            f"it holds <{one_line(annotation.name, 60)}>: it should hold <annotation>, as PASCAL VOC has it."
        )
    return annotation


def parse_object(element: Element) -> VocObject:
    """Return the name and the corners of an object, in our numbers."""
    corners = element.find_child("bndbox")
    if corners is None:
        return VocObject(element.find_text("name"), None)
    x1, y1, x2, y2 = (parse_number(corners.find_text(key)) for key in ("xmin", "ymin", "xmax", "ymax"))
    # VOC counts pixels from 1, and the last one is part of the box: in our numbers only the first corner changes.
    first = [value - 1 if isinstance(value, int | float) else value for value in (x1, y1)]
    return VocObject(element.find_text("name"), [*first, x2, y2])


def parse_size(annotation: Element, problems: Problems) -> tuple[int, int] | None:
    """Return height and width as a file states them; None where it does not."""
    size = annotation.find_child("size")
    if size is None:
        return None
    sides = {key: parse_number(size.find_text(key)) for key in ("height", "width")}
    # Some tools write 0 where they do not know.
    return None if [*sides.values()] == [0, 0] else read_stated_size(sides, problems)
