"""Small material to try a learner on: a quick detector, frames with coloured squares, steps of them."""

from __future__ import annotations

import numpy as np

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.types import Frame, LabelledFrame, Labels, Step

CLASSES = ("mug", "book", "car")
SIZE = (48, 64)
"""Height and width of a frame."""


def make_detector(seed: int = 0, **options: object) -> Tiny:
    """A detector that starts by chance and is quick: small frames, few regions."""
    settings = {"weights": None, "short_side": SIZE[0], "regions": 16, "proposals": 24, **options}
    return Tiny(CLASSES, TinyOptions.model_validate(settings), seed=seed)


def make_frame(frame_id: int, classes: tuple[int, ...] = (0,), size: tuple[int, int] = SIZE) -> LabelledFrame:
    """A noisy frame with coloured squares, one colour a class, so that there is something to learn."""
    random = np.random.default_rng(frame_id)
    pixels = random.integers(90, 130, (*size, 3), dtype=np.uint8)
    boxes = []
    for name in classes:
        side = int(random.integers(12, 24))
        x, y = int(random.integers(0, size[1] - side)), int(random.integers(0, size[0] - side))
        pixels[y : y + side, x : x + side] = 20
        pixels[y : y + side, x : x + side, name] = 240
        boxes.append([x, y, x + side, y + side])
    frame = Frame(frame_id, "test", frame_id, size, pixels)
    return frame, Labels(np.array(boxes, np.float32).reshape(-1, 4), np.array(classes, np.int64))


def make_step(index: int = 0, frames: int = 4, labelled: int = 2) -> Step:
    """A step of frames that show one class after another, the first few of them labelled."""
    pairs = [make_frame(index * frames + number, (number % len(CLASSES),)) for number in range(frames)]
    return Step(index, tuple(frame for frame, _ in pairs), {frame.id: labels for frame, labels in pairs[:labelled]})
