"""The boxes and classes that a file gives one frame, checked: what cannot be is told, what sticks out is clipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from leocod.errors import InvalidLabels
from leocod.readers.recording import FrameProblems
from leocod.text import one_line, shorten
from leocod.types import Labels

Form = Literal["xyxy", "xywh"]
"""How four numbers make a box: two corners, or a corner with width and height."""

Box = tuple[float, float, float, float]

Classes = Mapping[Any, int | None]
"""What a file calls a class -> its position in the class list; None: it takes no part."""

FARTHEST = 1e7
"""Pixels from the corner beyond which a number is not a place in a picture."""

ROUNDING = 1.0
"""Pixels by which a box may stick out of its frame without a word: files round."""


class Mark(NamedTuple):
    """One object as a file describes it, before anything is checked."""

    record: str
    """Which record of the file it is, in words."""
    category: Any
    box: Any
    form: Form


def labels_from(marks: Iterable[Mark], size: tuple[int, int], classes: Classes, tell: FrameProblems) -> Labels | None:
    """The labels of a frame; None when one of its marks cannot be used, since what is left would not be the truth."""
    boxes: list[Box] = []
    numbers: list[int] = []
    for mark in marks:
        if not _is_known(mark.category, classes):
            tell(mark.record, f"no class {shorten(mark.category)}. Known: {_first(classes)}.", "class")
            continue
        try:
            box, outside = fitted(corners(mark.box, mark.form), size)
        except ValueError as error:
            tell(mark.record, str(error), "box")
            continue
        if outside > ROUNDING:
            what = f"the box {shorten(mark.box)} sticks out of the frame and is clipped."
            tell(mark.record, what, "clipped box", breaks=False)
        number = classes[mark.category]
        if number is not None:
            boxes.append(box)
            numbers.append(number)
    if tell.broken:
        return None
    try:
        return Labels(np.array(boxes, np.float32), np.array(numbers, np.int64))
    except InvalidLabels as error:
        # Only rounding can do that: corners that are the same at 32 bits.
        tell("", f"{error} It is too thin to be a box.", "box")
        return None


def corners(value: Any, form: Form) -> Box:
    """x1, y1, x2, y2 of a box; a ValueError says what is wrong with it."""
    numbers = value if isinstance(value, list | tuple) and len(value) == 4 else ()
    # Comparing finds NaN, infinity and whole numbers too large to be anything, all at once.
    if not numbers or not all(type(one) in (int, float) and -FARTHEST < one < FARTHEST for one in numbers):
        names = "x1, y1, x2, y2" if form == "xyxy" else "x, y, width, height"
        raise ValueError(f"the box is {shorten(value)}: it should be four numbers, {names}, in pixels.")
    x1, y1, x2, y2 = numbers
    if form == "xywh":
        x2, y2 = x1 + x2, y1 + y2
    if not (x1 < x2 and y1 < y2):
        rule = "x1 < x2 and y1 < y2" if form == "xyxy" else "width and height above 0"
        raise ValueError(f"the box is {shorten(value)}: it has no area; it should have {rule}.")
    return float(x1), float(y1), float(x2), float(y2)


def fitted(box: Box, size: tuple[int, int]) -> tuple[Box, float]:
    """The part of a box inside a frame, and how far it stuck out; a ValueError when nothing is inside."""
    height, width = size
    x1, y1, x2, y2 = box
    clipped = (max(x1, 0.0), max(y1, 0.0), min(x2, float(width)), min(y2, float(height)))
    if not (clipped[0] < clipped[2] and clipped[1] < clipped[3]):
        raise ValueError(f"the box {shorten(list(box))} lies outside its frame of {width} x {height} pixels.")
    return clipped, max(-x1, -y1, x2 - width, y2 - height, 0.0)


def _is_known(name: Any, classes: Classes) -> bool:
    # True and 1.0 are equal to 1, but they are no names of classes.
    return type(name) in (str, int) and name in classes


def _first(classes: Classes) -> str:
    return ", ".join(one_line(one, 60) for one in list(classes)[:5]) + (", ..." if len(classes) > 5 else "")
