"""Show frames a little differently, and move their boxes along: crop, rotate, flip."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import grid_sample

from leocod.types import Frame, Image, LabelledFrame, Labels

CROP = 0.9
"""Part of each side that is kept."""
DEGREES = 5.0
"""Rotation to either side."""
FLIP = 0.5
"""Chance of a mirrored frame."""

Floats = NDArray[np.float32]
RotatedBoxes = Literal["corners", "ellipse"]


@dataclass(frozen=True)
class View:
    """How one frame is shown: what is cut out of it, turned by so many degrees against the clock, perhaps mirrored."""

    top: int
    left: int
    size: tuple[int, int]
    """Height and width of what is cut out."""
    degrees: float
    flip: bool

    @classmethod
    def draw(cls, size: tuple[int, int], random: np.random.Generator, zoom: float = CROP) -> Self:
        """Of a frame of this size. `zoom`: the least part of each side that is kept."""
        part = CROP if zoom == CROP else float(random.uniform(zoom, 1))
        height, width = round(size[0] * part), round(size[1] * part)
        return cls(
            top=int(random.integers(size[0] - height + 1)),
            left=int(random.integers(size[1] - width + 1)),
            size=(height, width),
            degrees=float(random.uniform(-DEGREES, DEGREES)),
            flip=bool(random.random() < FLIP),
        )

    def turn(self) -> tuple[float, float, float, float, float, float]:
        """Where a point (x, y) of the cut goes: (a x + b y + c, d x + e y + f)."""
        angle = math.radians(-self.degrees)
        cos, sin = math.cos(angle), math.sin(angle)
        x, y = self.size[1] * 0.5, self.size[0] * 0.5
        return cos, -sin, x - cos * x + sin * y, sin, cos, y - sin * x - cos * y


def augment(
    pairs: Sequence[LabelledFrame],
    random: np.random.Generator,
    rotated: RotatedBoxes = "corners",
    zoom: float = CROP,
    colour: float = 0.0,
) -> list[LabelledFrame]:
    """New frames and their boxes. A box that leaves its frame is clipped, or dropped when nothing is left of it.

    What comes out is what torchvision gives frame by frame (crop, rotate with bilinear interpolation, horizontal flip,
    clamp), without its cost for each: most of that was a matrix product over all pixels to say where they come from.
    """
    views = [View.draw(frame.size, random, zoom) for frame, _ in pairs]
    moved = _move_boxes([labels for _, labels in pairs], views, rotated)
    return [
        (Frame(frame.id, frame.video, frame.index, view.size, _tint(_render(frame.image(), view), random, colour)), labels)
        for (frame, _), view, labels in zip(pairs, views, moved, strict=True)
    ]


def _tint(pixels: Image, random: np.random.Generator, colour: float) -> Image:
    """Other brightness, contrast, saturation and white balance."""
    if not colour:
        return pixels
    brightness, contrast, saturation = random.uniform(1 - colour, 1 + colour, 3)
    balance = random.uniform(1 - colour / 3, 1 + colour / 3, 3).astype(np.float32)
    shown = pixels.astype(np.float32)
    grey = shown.mean(axis=2, keepdims=True)
    shown = grey + (shown - grey) * np.float32(saturation)
    mean = grey.mean()
    shown = (mean + (shown - mean) * np.float32(contrast)) * np.float32(brightness) * balance
    return np.clip(np.rint(shown), 0, 255).astype(np.uint8)


def _render(pixels: Image, view: View) -> Image:
    """The pixels in the view. Frame by frame: all of a step at once do not fit into the processor's cache."""
    height, width = view.size
    cut = pixels[view.top : view.top + height, view.left : view.left + width]
    if view.degrees % 360 == 0:
        return np.ascontiguousarray(cut[:, ::-1] if view.flip else cut)
    angle = math.radians(-(view.degrees % 360))
    cos, sin = math.cos(angle), math.sin(angle)
    # Where each new pixel comes from, as grid_sample counts: from the middle, in halves of the size.
    x = np.arange(width, dtype=np.float32) - (width - 1) * 0.5
    y = (np.arange(height, dtype=np.float32) - (height - 1) * 0.5)[:, None]
    if view.flip:
        x = x[::-1]
    half_width, half_height = np.float32(0.5 * width), np.float32(0.5 * height)
    places = np.empty((2, height, width), np.float32)
    np.add(x * (np.float32(cos) / half_width), y * (np.float32(sin) / half_width), out=places[0])
    np.add(x * (np.float32(-sin) / half_height), y * (np.float32(cos) / half_height), out=places[1])
    found = grid_sample(
        torch.from_numpy(cut.astype(np.float32)).permute(2, 0, 1)[None],
        torch.from_numpy(places).permute(1, 2, 0)[None],
        mode="bilinear",
        padding_mode="zeros",
        align_corners=False,
    )[0].round_()
    shown = np.empty((height, width, 3), np.uint8)
    for channel, plane in enumerate(found.numpy()):
        shown[..., channel] = plane
    return shown


def _move_boxes(given: Sequence[Labels], views: Sequence[View], rotated: RotatedBoxes) -> list[Labels]:
    """The labels in their views, all boxes together."""
    counts = [len(one) + len(one.unsure) for one in given]
    boxes = np.concatenate([np.zeros((0, 4), np.float32), *(part for one in given for part in (one.boxes, one.unsure))])

    def repeat_per_box(values: Sequence[Sequence[float]], width: int) -> Floats:
        return np.repeat(np.array(values, np.float32).reshape(-1, width), counts, axis=0)

    ends = repeat_per_box([view.size[::-1] * 2 for view in views], 4)
    boxes = np.clip(boxes - repeat_per_box([(view.left, view.top) * 2 for view in views], 4), 0, ends)
    # Asked before the rotation too: it would blow up what is only a line on the border to a box around nothing.
    kept = _has_extent(boxes)
    boxes = np.clip(ROTATE[rotated](boxes, repeat_per_box([view.turn() for view in views], 6)), 0, ends)
    mirrored = np.stack([ends[:, 0] - boxes[:, 2], boxes[:, 1], ends[:, 0] - boxes[:, 0], boxes[:, 3]], axis=1)
    boxes = np.where(repeat_per_box([[view.flip] for view in views], 1) > 0, np.clip(mirrored, 0, ends), boxes)
    kept &= _has_extent(boxes)
    ranges = np.split(np.arange(len(boxes)), np.cumsum(counts)[:-1]) if given else []
    return [_replace_boxes(labels, boxes[one], kept[one]) for labels, one in zip(given, ranges, strict=True)]


def _rotate_corners(boxes: Floats, turns: Floats) -> Floats:
    """The upright boxes around the turned ones."""
    a, b, c, d, e, f = turns.T[..., None]
    x, y = boxes[:, [0, 2, 2, 0]], boxes[:, [1, 1, 3, 3]]
    xs, ys = x * a + y * b + c, x * d + y * e + f
    return np.stack([xs.min(axis=1), ys.min(axis=1), xs.max(axis=1), ys.max(axis=1)], axis=1)


def _rotate_ellipses(boxes: Floats, turns: Floats) -> Floats:
    """The upright boxes around the turned ellipses in the boxes: most objects do not fill the corners of theirs."""
    a, b, c, d, e, f = turns.T
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    wide, high = (boxes[:, 2] - boxes[:, 0]) / 2, (boxes[:, 3] - boxes[:, 1]) / 2
    middle = np.stack([x * a + y * b + c, x * d + y * e + f], axis=1)
    half = np.stack([np.hypot(wide * a, high * b), np.hypot(wide * d, high * e)], axis=1)
    return np.concatenate([middle - half, middle + half], axis=1)


ROTATE: dict[RotatedBoxes, Callable[[Floats, Floats], Floats]] = {
    "corners": _rotate_corners,
    "ellipse": _rotate_ellipses,
}


def _replace_boxes(labels: Labels, boxes: Floats, kept: NDArray[np.bool_]) -> Labels:
    """Labels whose boxes, and after them the unsure ones, have moved, and of which some are kept."""
    count = len(labels)
    sure = kept[:count]
    return replace(
        labels,
        boxes=boxes[:count][sure],
        classes=labels.classes[sure],
        unsure=boxes[count:][kept[count:]],
        logits=None if labels.logits is None else labels.logits[sure],
    )


def _has_extent(boxes: Floats) -> NDArray[np.bool_]:
    """At least a pixel in both directions."""
    wide, high = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    return (wide >= 1) & (high >= 1)
