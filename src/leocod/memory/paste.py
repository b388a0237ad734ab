"""Pastes objects of remembered frames into others: a replayed frame then shows more of what is remembered.

An object comes as it is, with what its box shows around it. It keeps its size and stays near its height in the frame,
where such objects stand; it covers no other object; and its border fades into the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from leocod.types import Frame, Image, LabelledFrame, Labels

SMALLEST = 8
"""Pixels of a side. What is smaller shows nothing."""
LARGEST = 0.5
"""Of the frame's side. What is larger leaves no room for others."""
TRIES = 5
"""Places that are tried for an object."""
DRIFT = 0.1
"""Of the frame's height, up or down."""
FADE = 0.1
"""Of the object's side: the width of the border that fades."""

Floats = NDArray[np.float32]


def paste_objects(
    pairs: Sequence[LabelledFrame], sources: Sequence[LabelledFrame], random: np.random.Generator
) -> list[LabelledFrame]:
    """The frames, each with an object of the source at its place, where one fits."""
    return [_paste(frame, labels, *source, random) for (frame, labels), source in zip(pairs, sources, strict=True)]


def _paste(frame: Frame, labels: Labels, source: Frame, given: Labels, random: np.random.Generator) -> LabelledFrame:
    # What a detector once said about the boxes of a frame is not known of another box.
    if labels.logits is not None or source.id == frame.id:
        return frame, labels
    whole = _find_whole(given.boxes, source.size, frame.size)
    if not len(whole):
        return frame, labels
    number = int(whole[random.integers(len(whole))])
    left, top, right, bottom = given.boxes[number].round().astype(int).tolist()
    place = _find_place((bottom - top, right - left), top / source.size[0], frame.size, labels, random)
    if place is None:
        return frame, labels
    pixels = _blend(frame.image(), source.image()[top:bottom, left:right], place)
    box = np.array([[place[1], place[0], place[1] + right - left, place[0] + bottom - top]], np.float32)
    boxes = np.concatenate([labels.boxes, box])
    classes = np.append(labels.classes, given.classes[number])
    return replace(frame, content=pixels), replace(labels, boxes=boxes, classes=classes)


def _find_whole(boxes: Floats, size: tuple[int, int], room: tuple[int, int]) -> NDArray[np.int64]:
    """Which objects are not cut by the border of their frame, and neither too small nor too large to be pasted."""
    height, width = size
    sides = boxes[:, 2:] - boxes[:, :2]
    inside = (boxes[:, :2] >= 1).all(axis=1) & (boxes[:, 2:] <= np.array([width - 1, height - 1])).all(axis=1)
    fits = (sides >= SMALLEST).all(axis=1) & (sides <= LARGEST * np.array([room[1], room[0]])).all(axis=1)
    return np.flatnonzero(inside & fits)


def _find_place(
    size: tuple[int, int], height: float, room: tuple[int, int], labels: Labels, random: np.random.Generator
) -> tuple[int, int] | None:
    """Top and left of a place that covers no object, near this height; None where there is none."""
    taken = np.concatenate([labels.boxes, labels.unsure])
    for _ in range(TRIES):
        top = round((height + random.uniform(-DRIFT, DRIFT)) * room[0])
        top = min(max(top, 0), room[0] - size[0])
        left = int(random.integers(room[1] - size[1] + 1))
        apart = (
            (taken[:, 0] >= left + size[1])
            | (taken[:, 2] <= left)
            | (taken[:, 1] >= top + size[0])
            | (taken[:, 3] <= top)
        )
        if apart.all():
            return top, left
    return None


def _blend(pixels: Image, patch: Image, place: tuple[int, int]) -> Image:
    """The pixels with the patch in them; its border fades."""
    height, width = patch.shape[:2]
    mask = (_fade(height)[:, None] * _fade(width)[None, :])[..., None]
    shown = pixels.copy()
    under = shown[place[0] : place[0] + height, place[1] : place[1] + width]
    under[:] = (mask * patch + (1 - mask) * under).round().astype(np.uint8)
    return shown


def _fade(length: int) -> Floats:
    """From the border of a side to its middle, and back: how much of the patch is seen."""
    border = max(FADE * length, 1.0)
    distance = np.minimum(np.arange(length), np.arange(length)[::-1]) + 0.5
    return np.minimum(distance / border, 1).astype(np.float32)
