"""What a person draws: boxes with names, checked before they are believed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leocod.errors import InvalidLabels

MOST_OBJECTS = 300
"""Boxes of one label, at most."""

SMALLEST = 1.0
"""Width and height of a box, in pixels, at least."""


@dataclass(frozen=True)
class DrawnObject:
    """A box that a person drew or accepted, and what it shows."""

    box: tuple[float, float, float, float]
    name: str


def clip_boxes(objects: Sequence[DrawnObject], size: tuple[int, int]) -> list[list[float]]:
    """The parts of boxes that are in a frame of this height and width, corners in order."""
    if len(objects) > MOST_OBJECTS:
        raise InvalidLabels(f"{len(objects)} boxes: a frame may have {MOST_OBJECTS}.")
    return [_clip(one, *size) for one in objects]


def _clip(one: DrawnObject, height: int, width: int) -> list[float]:
    """The part of a box that is in the frame."""
    x1, y1, x2, y2 = (float(value) for value in one.box)
    clipped = [max(0.0, min(x1, x2)), max(0.0, min(y1, y2)), min(width, max(x1, x2)), min(height, max(y1, y2))]
    is_large = clipped[2] - clipped[0] >= SMALLEST and clipped[3] - clipped[1] >= SMALLEST
    if not (is_large and all(map(math.isfinite, one.box))):
        raise InvalidLabels(f"A box of '{one.name}' is smaller than a pixel, or outside of the frame. Draw it again.")
    return [round(float(value), 2) for value in clipped]
