"""Frames and labels of the memory as tensors and plain values, so that a checkpoint loads without running code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from leocod.memory.encoding import EncodedPicture
from leocod.types import Frame, Labels, LossWeights


def pack_frame(frame: Frame) -> dict[str, Any]:
    """A stored frame. A JPEG stays the bytes that it is."""
    packed = {"id": frame.id, "video": frame.video, "index": frame.index}
    if isinstance(frame.content, EncodedPicture):
        data = np.frombuffer(frame.content.data, np.uint8)
        return {**packed, "size": list(frame.size), "jpeg": torch.tensor(data)}
    return {**packed, "pixels": torch.tensor(frame.image())}


def unpack_frame(packed: Mapping[str, Any]) -> Frame:
    """The frame, stored as it was."""
    number, video, index = packed["id"], packed["video"], packed["index"]
    if "jpeg" in packed:
        height, width = packed["size"]
        return Frame(number, video, index, (height, width), EncodedPicture(packed["jpeg"].numpy().tobytes()))
    pixels = packed["pixels"].numpy()
    return Frame(number, video, index, pixels.shape[:2], pixels)


def pack_labels(frame: Frame, labels: Labels) -> dict[str, Any]:
    """Labels, and the id of the frame that they belong to."""
    return {
        "frame": frame.id,
        "boxes": torch.tensor(labels.boxes),
        "classes": torch.tensor(labels.classes),
        "unsure": torch.tensor(labels.unsure),
        "weights": asdict(labels.weights),
        "logits": None if labels.logits is None else torch.tensor(labels.logits),
        "complete": labels.complete,
    }


def unpack_labels(packed: Mapping[str, Any]) -> Labels:
    """The labels. A person gave them: the memory keeps no others."""
    logits = packed["logits"]
    return Labels(
        packed["boxes"].numpy(),
        packed["classes"].numpy(),
        weights=LossWeights(**packed["weights"]),
        unsure=packed["unsure"].numpy(),
        logits=None if logits is None else logits.numpy(),
        # In earlier versions every label was.
        complete=packed.get("complete", True),
    )
