"""Which class a row of a class layer stands for, and which names mean the same class."""

from __future__ import annotations

from collections.abc import Sequence

from torchvision.models.detection import FasterRCNN_ResNet50_FPN_Weights

BACKGROUND = "__background__"
"""The row of no object, first in a two-stage detector. torchvision's RetinaNet has it too, but never learns it."""
UNUSED = "N/A"
"""A number of COCO that was never given to a class."""

VOC = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog",
    "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip
"""PASCAL VOC's 20 classes, in Detectron2's order."""

SYNONYMS = {
    "aeroplane": "airplane",
    "motorbike": "motorcycle",
    "sofa": "couch",
    "tvmonitor": "tv",
    "monitor": "tv",
    "fireplug": "firehydrant",
}
"""Other words for classes of COCO, as VOC and OAK have them.

OAK's class list begins with VOC's 20 classes in VOC's order, six of them spelt differently: dining table, motorcycle,
potted plant and monitor beside aeroplane and sofa, so OAK's monitor is VOC's tvmonitor. Words that are only similar are
left apart: ship is not boat here, phone is not cell phone, computer is not tv.
"""


COCO_ROWS: tuple[str, ...] = tuple(FasterRCNN_ResNet50_FPN_Weights.COCO_V1.meta["categories"])
"""The 91 outputs of torchvision's COCO detectors: the background, then COCO's numbers, some of them unused."""


def select_classes(rows: Sequence[str]) -> tuple[str, ...]:
    """The rows that are classes."""
    return tuple(row for row in rows if row not in (BACKGROUND, UNUSED))


COCO = select_classes(COCO_ROWS)
"""COCO's 80 classes, in order."""


def normalise(name: str) -> str:
    """The same text for all ways to write a class.

    >>> normalise("Dining_Table") == normalise("diningtable"), normalise("motorbike")
    (True, 'motorcycle')
    """
    plain = name.casefold()
    for gap in " _-":
        plain = plain.replace(gap, "")
    return SYNONYMS.get(plain, plain)


def find_row(name: str, rows: Sequence[str]) -> int | None:
    """The row that stands for a class: the one of exactly this name, else the first that means the same.

    >>> find_row("Motorbike", ["__background__", "motorcycle"])
    1
    """
    if name == UNUSED:
        return None
    if name in rows:
        return rows.index(name)
    same = (
        number
        for number, row in enumerate(rows)
        if row not in (BACKGROUND, UNUSED) and normalise(row) == normalise(name)
    )
    return next(same, None)
