"""The annotations of one frame: each box and class is checked, boxes are clipped to the frame, and labels are made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from leocod.errors import InvalidLabels
from leocod.readers.recording import FrameProblems
from leocod.text import one_line, shorten
from leocod.types import Labels

BoxFormat = Literal["xyxy", "xywh"]
"""What the four numbers of a box are: two corners, or a corner with width and height."""

Box = tuple[float, float, float, float]

ClassNumbers = Mapping[Any, int | None]
"""What a file calls a class -> its position in the class list; None: the class takes no part."""

FARTHEST = 1e7
"""Pixels from the corner of a picture. A larger number cannot be a position in it."""

ROUNDING = 1.0
"""Pixels by which a box may stick out of its frame without a warning: files round."""

NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")
"""A number as a text of a file."""


FORM_NAMES: dict[BoxFormat, str] = {"xyxy": "x1, y1, x2, y2", "xywh": "x, y, width, height"}
"""What the four numbers of a box are."""


class Annotation(NamedTuple):
    """One object as a file describes it, before anything is checked."""

    record: str
    """Which record of the file it is, in words."""
    category: Any
    box: Any
    format: BoxFormat


def make_labels(
    annotations: Iterable[Annotation], size: tuple[int, int], classes: ClassNumbers, problems: FrameProblems
) -> Labels | None:
    """Make the labels of a frame; None when one annotation cannot be used: the rest would not be the whole truth."""
    boxes: list[Box] = []
    numbers: list[int] = []
    for annotation in annotations:
        record, category = annotation.record, annotation.category
        if not _is_known(category, classes):
            problems.add(record, f"no class {shorten(category)}. Known: {_list_first(classes)}.", "class")
            continue
        try:
            box, overhang = clip_box(parse_box(annotation.box, annotation.format), size)
            if box is None:
                raise ValueError(
                    f"the box {show_box(annotation.box, annotation.format)} lies outside its frame of "
                    f"{size[1]} x {size[0]} pixels."
                )
        except ValueError as error:
            problems.add(record, str(error), "box")
            continue
        if overhang > ROUNDING:
            what = f"the box {show_box(annotation.box, annotation.format)} sticks out of the frame and is clipped."
            problems.add(record, what, "clipped box", breaks=False)
        number = classes[category]
        if number is not None:
            boxes.append(box)
            numbers.append(number)
    if problems.broken:
        return None
    try:
        return Labels(np.array(boxes, np.float32), np.array(numbers, np.int64))
    except InvalidLabels as error:
        # Rounding to 32 bits has made two corners equal.
        problems.add("", f"{error} It is too thin to be a box.", "box")
        return None


def parse_box(value: Any, format: BoxFormat) -> Box:
    """Return x1, y1, x2, y2 of a box. A ValueError says what is wrong with it."""
    numbers = value if isinstance(value, list | tuple) and len(value) == 4 else ()
    # One comparison finds NaN, infinity and numbers that are too large.
    if not numbers or not all(type(number) in (int, float) and -FARTHEST < number < FARTHEST for number in numbers):
        raise ValueError(
            f"the box is {show_box(value, format)}: it should be four numbers, {FORM_NAMES[format]}, in pixels."
        )
    x1, y1, x2, y2 = numbers
    if format == "xywh":
        x2, y2 = x1 + x2, y1 + y2
    if not (x1 < x2 and y1 < y2):
        rule = "x1 < x2 and y1 < y2" if format == "xyxy" else "width and height above 0"
        raise ValueError(f"the box is {show_box(value, format)}: it has no area; it should have {rule}.")
    return float(x1), float(y1), float(x2), float(y2)


def show_box(value: Any, format: BoxFormat) -> str:
    """Show a box in a message: as it stands in its file, where a person can find it, with the names of its numbers.

    >>> show_box([1, 2, 30, 40], "xywh")
    '[1, 2, 30, 40] (x, y, width, height)'
    """
    return f"{shorten(value)} ({FORM_NAMES[format]})" if isinstance(value, list | tuple) else shorten(value)


def parse_number(text: str | None) -> float | int | str | None:
    """Return the number that a text is, or the text: whoever uses it says what is wrong with it."""
    if text is None or len(text) > 100 or not NUMBER.fullmatch(text):
        return text
    number = float(text)
    return int(number) if number.is_integer() else number


def clip_box(box: Box, size: tuple[int, int]) -> tuple[Box | None, float]:
    """Return the part of a box inside a frame, None where nothing is inside, and how far the box stuck out."""
    height, width = size
    x1, y1, x2, y2 = box
    clipped = (max(x1, 0.0), max(y1, 0.0), min(x2, float(width)), min(y2, float(height)))
    is_inside = clipped[0] < clipped[2] and clipped[1] < clipped[3]
    return clipped if is_inside else None, max(-x1, -y1, x2 - width, y2 - height, 0.0)


def _is_known(name: Any, classes: ClassNumbers) -> bool:
    # True and 1.0 are equal to 1, but no class is called that.
    return type(name) in (str, int) and name in classes


def _list_first(classes: ClassNumbers) -> str:
    return ", ".join(one_line(name, 60) for name in list(classes)[:5]) + (", ..." if len(classes) > 5 else "")
