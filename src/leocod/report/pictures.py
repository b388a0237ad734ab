"""Sample frames with their boxes, ready to be drawn over the picture in the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image as PillowImage

from leocod.errors import InvalidFrame, InvalidRun
from leocod.evaluation.audit import match_labels
from leocod.files.images import open_image
from leocod.files.paths import is_inside as inside
from leocod.files.run_files import make_legible
from leocod.report.reading import Run
from leocod.report.schemas import Sample
from leocod.text import one_line, strip_file_name
from leocod.types import Labels

LOWEST_SCORE = 0.3
"""Test detections below this are not drawn: a detector lists many that it hardly believes in."""

MOST_PICTURES = 12
"""Of each kind and run, so that a page can still be mailed."""

SMALL, LONGEST = 320, 480
"""Pixels of the longer side: up to the first a picture is taken as it is, above it is made light, up to the second."""

LARGEST = 500_000
"""Bytes of a picture that is taken as it is. Pixels of a small picture need fewer, even when they are not packed."""

Verdict = Literal["right", "wrong", "stored", "true"]


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of the frame, with what to write on it."""

    x: float
    y: float
    width: float
    height: float
    verdict: Verdict
    text: str
    anchor: Literal["start", "end"]
    """From which side of the box the text runs, so that it stays in the picture."""


@dataclass(frozen=True)
class Picture:
    """A frame, as large as it is, and the boxes over it; true boxes come first, so that they lie below."""

    title: str
    width: int
    height: int
    data: str
    """The picture as a data address: the page must stand alone. It may have fewer pixels than the frame."""
    boxes: tuple[Box, ...]
    is_judged: bool = True
    """Whether somebody has labelled the frame, so that its boxes are right or wrong."""


def make_pictures(run: Run, kind: str, most: int = MOST_PICTURES) -> list[Picture]:
    """Sample frames of one kind (`test`, `pseudo` or `memory`), evenly picked when there are too many."""
    samples = [sample for sample in run.samples if sample.kind == kind]
    if len(samples) > most:
        samples = [samples[number] for number in np.linspace(0, len(samples) - 1, most).round().astype(int)]
    return [_make_picture(run, sample) for sample in samples]


def _make_picture(run: Run, sample: Sample) -> Picture:
    # The name only: a sample cannot point out of its directory. Nor may a link in its place.
    folder = run.path / "samples"
    file = folder / Path(sample.file).name
    cure = f"Delete {one_line(folder)} for a report without samples."
    if not inside(file, run.path):
        raise InvalidRun(f"{one_line(file)} leads out of the run directory. {cure}")
    try:
        with open_image(file) as image:
            image.load()
            (width, height), form = image.size, "JPEG"
            # Only what a run writes goes into the page byte by byte.
            if image.format == "PNG" and max(width, height) <= SMALL and file.stat().st_size <= LARGEST:
                content, form = file.read_bytes(), "PNG"
            else:
                content = _compress(image)
    except InvalidFrame as error:
        what = strip_file_name(file, error)
        raise InvalidRun(f"{one_line(file)} is not a readable picture ({what.rstrip('.')}). {cure}") from error
    name = f"frame {sample.frame if sample.name is None else make_legible(sample.name)}"
    where = f"{name}, step {sample.step}" if sample.kind == "pseudo" else name
    boxes = tuple(_make_boxes(sample, run.classes, middle=width / 2))
    data = f"data:image/{form.lower()};base64,{base64.b64encode(content).decode()}"
    return Picture(where, width, height, data, boxes, sample.truth is not None)


def _compress(image: PillowImage.Image) -> bytes:
    """As a JPEG no larger than a page shows it. The boxes are drawn over it, so they stay sharp."""
    shown = image.convert("RGB")
    shown.thumbnail((LONGEST, LONGEST))
    target = io.BytesIO()
    shown.save(target, "JPEG", quality=85)
    return target.getvalue()


def _make_boxes(sample: Sample, classes: Sequence[str], *, middle: float) -> list[Box]:
    boxes = sorted((box for box in sample.boxes if _has_area(box)), key=lambda box: -box[5])
    if sample.kind == "memory" or sample.truth is None:
        return [_make_box(box[:4], "stored", _shorten(_name_class(box[4], classes)), middle) for box in boxes]
    if sample.kind == "test":
        boxes = [box for box in boxes if box[5] >= LOWEST_SCORE]
    true = [box for box in sample.truth if _has_area(box)]
    right = match_labels(_to_labels(boxes, classes), _to_labels(true, classes))
    return [
        *(_make_box(box[:4], "true", "", middle) for box in true),
        *(
            _make_box(
                box[:4],
                "right" if good else "wrong",
                f"{'✓' if good else '✗'} {_shorten(_name_class(box[4], classes))}{_format_score(box[5])}",
                middle,
            )
            for box, good in zip(boxes, right, strict=True)
        ),
    ]


def _has_area(box: Sequence[float | str]) -> bool:
    """In 32 bits, as labels have it."""
    left, top, right, bottom = np.array(box[:4], np.float32)
    return bool(left < right and top < bottom)


def _make_box(corners: tuple[float, float, float, float], verdict: Verdict, text: str, middle: float) -> Box:
    x1, y1, x2, y2 = corners
    return Box(x1, y1, x2 - x1, y2 - y1, verdict, text, "end" if (x1 + x2) / 2 > middle else "start")


def _name_class(category: int | str, classes: Sequence[str]) -> str:
    """Class name of a number, which older files may hold as the name itself."""
    if isinstance(category, str):
        return category
    return classes[category] if 0 <= category < len(classes) else f"class {category}"


def _format_score(score: float) -> str:
    """Exactly 1 stands for 'not kept': labels have no score."""
    return f" {score:.2f}" if score < 1 else ""


def _shorten(name: str, longest: int = 12) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _to_labels(
    boxes: Sequence[tuple[float, float, float, float, int | str]]
    | Sequence[tuple[float, float, float, float, int | str, float]],
    classes: Sequence[str],
) -> Labels:
    names = [_name_class(box[4], classes) for box in boxes]
    known = [classes.index(name) if name in classes else len(classes) for name in names]
    return Labels(np.array([box[:4] for box in boxes], np.float32).reshape(-1, 4), np.array(known, np.int64))
