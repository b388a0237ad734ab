"""What it costs to vary the pseudo-labelled frames of a step: 12 frames at once against one by one.

    .venv/bin/python bench/augment.py

Against torchvision, frame by frame, which gives the same to the bit, and against PIL, frame by frame, which
interpolates in whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from harness import arguments, in_turn, record, table
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional

from leocod.plugins.augmentation import CROP, DEGREES, FLIP, augment
from leocod.types import Frame, LabelledFrame, Labels

FRAMES = 12
SIZES = ((96, 128), (480, 640))


def torchvisions(pair: LabelledFrame, random: np.random.Generator) -> LabelledFrame:
    """One frame by torchvision's own functions. Also what the tests compare the product with."""
    frame, labels = pair
    top, left, height, width, angle, flip = drawn(frame.size, random)
    image: Any = tv_tensors.Image(torch.from_numpy(frame.image().copy()).permute(2, 0, 1))
    boxes: Any = tv_tensors.BoundingBoxes(
        torch.from_numpy(np.concatenate([labels.boxes, labels.unsure])),
        format="XYXY",
        canvas_size=frame.size,
        clamping_mode="hard",
    )
    image = functional.crop(image, top, left, height, width)
    boxes = functional.crop(boxes, top, left, height, width)
    large = has_extent(boxes.numpy())
    image = functional.rotate(image, angle, interpolation=InterpolationMode.BILINEAR)
    boxes = functional.rotate(boxes, angle)
    if flip:
        image, boxes = functional.horizontal_flip(image), functional.horizontal_flip(boxes)
    boxes = functional.clamp_bounding_boxes(boxes).numpy()
    pixels = np.ascontiguousarray(image.permute(1, 2, 0).numpy())
    return Frame(frame.id, frame.video, frame.index, (height, width), pixels), kept(labels, boxes, large)


def pils(pair: LabelledFrame, random: np.random.Generator) -> LabelledFrame:
    """One frame by PIL, its boxes by hand."""
    frame, labels = pair
    top, left, height, width, angle, flip = drawn(frame.size, random)
    image = Image.fromarray(frame.image()).crop((left, top, left + width, top + height))
    image = image.rotate(angle, Image.Resampling.BILINEAR)
    ends = np.array([width, height] * 2, np.float32)
    boxes = np.concatenate([labels.boxes, labels.unsure]) - np.array([left, top] * 2, np.float32)
    boxes = boxes.clip(0, ends)
    large = has_extent(boxes)
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    corners = boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]] - ends[:2] / 2
    turned = corners @ np.array([[cos, -sin], [sin, cos]], np.float32) + ends[:2] / 2
    boxes = np.concatenate([turned.min(axis=1), turned.max(axis=1)], axis=1)
    if flip:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        boxes = np.stack([width - boxes[:, 2], boxes[:, 1], width - boxes[:, 0], boxes[:, 3]], axis=1)
    shown = Frame(frame.id, frame.video, frame.index, (height, width), np.asarray(image))
    return shown, kept(labels, boxes.clip(0, ends), large)


def drawn(size: tuple[int, int], random: np.random.Generator) -> tuple[int, int, int, int, float, bool]:
    """Top, left, height and width of the crop, the angle, and whether to mirror, drawn as the product draws them."""
    height, width = round(size[0] * CROP), round(size[1] * CROP)
    top, left = int(random.integers(size[0] - height + 1)), int(random.integers(size[1] - width + 1))
    return top, left, height, width, float(random.uniform(-DEGREES, DEGREES)), bool(random.random() < FLIP)


def has_extent(boxes: Any) -> Any:
    """At least a pixel in both directions."""
    return ((boxes[:, 2:] - boxes[:, :2]) >= 1).all(axis=1)


def kept(labels: Labels, boxes: Any, large: Any) -> Labels:
    """The labels with moved boxes, without those of which nothing is left."""
    stay, count = large & has_extent(boxes), len(labels)
    return replace(
        labels,
        boxes=boxes[:count][stay[:count]],
        classes=labels.classes[stay[:count]],
        unsure=boxes[count:][stay[count:]],
        logits=None if labels.logits is None else labels.logits[stay[:count]],
    )


def one_by_one(
    way: Callable[[LabelledFrame, np.random.Generator], LabelledFrame], pairs: list[LabelledFrame]
) -> Callable[[], object]:
    """To be timed."""
    random = np.random.default_rng(0)
    return lambda: [way(pair, random) for pair in pairs]


def main() -> None:
    """Both sizes, three ways."""
    options = arguments(__doc__, rounds=40)
    torch.set_num_threads(options.threads)
    rows, content, ratios = [], {}, []
    for height, width in SIZES:
        noise = np.random.default_rng(0)
        boxes = np.array([[10, 10, 40, 40], [5, 5, 60, 70], [50, 20, 90, 60]], np.float32)
        labels = Labels(boxes, np.arange(3), "pseudo")
        pairs = [
            (
                Frame(number, "bench", number, (height, width), noise.integers(0, 256, (height, width, 3), np.uint8)),
                labels,
            )
            for number in range(FRAMES)
        ]
        random = np.random.default_rng(0)
        taken = in_turn(
            {
                "product": lambda pairs=pairs, random=random: augment(pairs, random),  # type: ignore[misc]
                "torchvision": one_by_one(torchvisions, pairs),
                "PIL": one_by_one(pils, pairs),
            },
            rounds=options.rounds,
        )
        over = {name: taken["product"].over(taken[name]) for name in ("torchvision", "PIL")}
        size = f"{width} x {height}"
        rows.append([size, *(one.told(1e-3) for one in taken.values()), *(one.told() for one in over.values())])
        ratios.append(f"{over['torchvision'].median:.2f} at {size}")
        content[size] = {
            "seconds": {name: one.kept() for name, one in taken.items()},
            **{f"product / {name}": one.kept() for name, one in over.items()},
        }
    heads = ["frames", "product, ms", "torchvision, ms", "PIL, ms", "product / torchvision", "product / PIL"]
    print(table(heads, rows))
    print(f"\nproduct / torchvision frame by frame: {', '.join(ratios)}")
    record(options, {"rounds": options.rounds, "frames": FRAMES, **content})


if __name__ == "__main__":
    main()
