"""Show a frame a little differently, and move its boxes along: crop, rotate, flip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional

from leocod.types import Frame, LabelledFrame

CROP = 0.9
"""Part of each side that is kept."""
DEGREES = 5.0
"""Rotation to either side."""
FLIP = 0.5
"""Chance of a mirrored frame."""


def augmented(pair: LabelledFrame, random: np.random.Generator) -> LabelledFrame:
    """A new frame and its boxes. A box that leaves the frame is clipped, or dropped when nothing is left of it."""
    frame, labels = pair
    height, width = frame.size
    crop_height, crop_width = round(height * CROP), round(width * CROP)
    top, left = int(random.integers(height - crop_height + 1)), int(random.integers(width - crop_width + 1))
    angle = float(random.uniform(-DEGREES, DEGREES))
    flip = bool(random.random() < FLIP)

    image: torch.Tensor = tv_tensors.Image(torch.from_numpy(frame.image().copy()).permute(2, 0, 1))
    boxes: torch.Tensor = tv_tensors.BoundingBoxes(
        torch.from_numpy(np.concatenate([labels.boxes, labels.unsure])),
        format="XYXY",
        canvas_size=(height, width),
        clamping_mode="hard",
    )
    image = functional.crop(image, top, left, crop_height, crop_width)
    boxes = functional.crop(boxes, top, left, crop_height, crop_width)
    # Asked before the rotation too: it would blow up what is only a line on the border to a box around nothing.
    left_over = _has_extent(boxes)
    image = functional.rotate(image, angle, interpolation=InterpolationMode.BILINEAR)
    boxes = functional.rotate(boxes, angle)
    if flip:
        image, boxes = functional.horizontal_flip(image), functional.horizontal_flip(boxes)
    boxes = functional.clamp_bounding_boxes(boxes)
    kept = (left_over & _has_extent(boxes)).numpy()
    sure, unsure = np.split(boxes.numpy(), [len(labels)])
    kept_sure, kept_unsure = np.split(kept, [len(labels)])
    pixels = np.ascontiguousarray(image.permute(1, 2, 0).numpy())
    return (
        Frame(frame.id, frame.video, frame.index, (crop_height, crop_width), pixels),
        replace(
            labels,
            boxes=sure[kept_sure],
            classes=labels.classes[kept_sure],
            unsure=unsure[kept_unsure],
            logits=None if labels.logits is None else labels.logits[kept_sure],
        ),
    )


def _has_extent(boxes: torch.Tensor) -> torch.Tensor:
    """At least a pixel in both directions."""
    return ((boxes[:, 2:] - boxes[:, :2]) >= 1).all(dim=1)
