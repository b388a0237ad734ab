"""Which class a row of a detector's last layer stands for, and which names mean the same class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from torchvision.models.detection import FasterRCNN_ResNet50_FPN_Weights

BACKGROUND = "__background__"
"""The row of no object, first in a two-stage detector. In torchvision's RetinaNet it is there too, and never learnt."""
NOTHING = "N/A"
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
"""Other words for a class of COCO, as VOC and OAK have them.

OAK's class list begins with VOC's 20 classes in VOC's order, six of them spelt anew: dining table, motorcycle, potted
plant and monitor beside aeroplane and sofa, so OAK's monitor is VOC's tvmonitor. Words that only come near are left
apart: a ship is no boat here, a phone no cell phone, a computer no tv.
"""


@cache
def coco_rows() -> tuple[str, ...]:
    """The 91 outputs of torchvision's COCO detectors: the background, then COCO's numbers, some of them unused."""
    return tuple(FasterRCNN_ResNet50_FPN_Weights.COCO_V1.meta["categories"])


def coco() -> tuple[str, ...]:
    """COCO's 80 classes, in order."""
    return classes_of(coco_rows())


def classes_of(rows: Sequence[str]) -> tuple[str, ...]:
    """The rows that are classes."""
    return tuple(row for row in rows if row not in (BACKGROUND, NOTHING))


def spelling(name: str) -> str:
    """The same for all ways to write a class.

    >>> spelling("Dining_Table") == spelling("diningtable"), spelling("motorbike")
    (True, 'motorcycle')
    """
    plain = name.casefold()
    for gap in " _-":
        plain = plain.replace(gap, "")
    return SYNONYMS.get(plain, plain)


def row_of(name: str, rows: Sequence[str]) -> int | None:
    """The row that stands for a class: the one of exactly this name, else the first that means the same.

    >>> row_of("Motorbike", ["__background__", "motorcycle"])
    1
    """
    if name == NOTHING:
        return None
    if name in rows:
        return rows.index(name)
    same = (number for number, row in enumerate(rows) if spelling(row) == spelling(name) and row in classes_of(rows))
    return next(same, None)
