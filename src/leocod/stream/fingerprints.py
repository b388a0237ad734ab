"""Numbers that tell frames and labels from others, also between runs: eight bytes for each."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from leocod.types import Frame, Labels


def fingerprint_frame(frame: Frame) -> int:
    """Of the place of a frame in its video: ids are given anew when labels are added."""
    return _hash(f"{frame.video}\0{frame.index}")


def fingerprint_labels(labels: Labels, classes: Sequence[str]) -> int:
    """Of what labels say, by class names, whatever the order of the boxes: numbers may change with the list."""
    boxes = labels.boxes.round(2).tolist()
    said = sorted((classes[number], box) for number, box in zip(labels.classes.tolist(), boxes, strict=True))
    return _hash(repr((said, labels.complete)))


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)
