"""Use what a run has learnt: detections in one's own images or video, drawn and as COCO results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as PillowImage
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from leocod.errors import InvalidData
from leocod.evaluation.coco_form import to_coco_results
from leocod.files.atomic import atomic_directory, write_json
from leocod.files.images import open_image, read_pixels
from leocod.files.run_directory import find_free_path, refuse_if_taken
from leocod.files.videos import TimedImage, VideoFile, write_video
from leocod.report.contact_sheet import draw_contact_sheet
from leocod.sinks.console import Rate
from leocod.text import natural_key, one_line, pluralize
from leocod.types import Detections, Image

IMAGES = {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"}
BATCH = 16
"""Images looked at together, at most."""
BATCH_PIXELS = 32_000_000
"""And no more once they have this many pixels."""
LEGIBLE_WIDTH = 640
"""Smaller pictures are enlarged until their labels can be read."""

Predict = Callable[[Sequence[Image]], list[Detections]]


@dataclass(frozen=True, eq=False)
class Picture:
    """An image, or a frame of a video, to look at."""

    name: str
    image: Image
    seconds: Fraction | None = None
    """Of a video frame: after the first one."""


@dataclass(frozen=True)
class Found:
    """What was found in one picture. Without its pixels: a video has many."""

    name: str
    size: tuple[int, int]
    """Height and width in pixels."""
    seconds: Fraction | None
    detections: Detections


LookedAt = tuple[Picture, Found]
PseudoLabelMonitor = Callable[[Iterator[LookedAt], int | None], Iterable[LookedAt]]
"""Passes on what is looked at, and may show how far it is; with the number of pictures, where that is known."""


def predict(
    source: Path,
    out: Path,
    detect: Predict,
    classes: Sequence[str],
    *,
    threshold: float,
    watch: PseudoLabelMonitor = lambda looked_at, _: looked_at,
    tell: Callable[[str], None] = lambda _: None,
) -> int:
    """Write annotated pictures, or an annotated video, and detections.json to `out`; returns how many frames.

    `out` is there when all of it is, and not before.
    """
    if not 0 <= threshold <= 1:
        raise InvalidData(f"The threshold is {threshold}: it should be from 0 to 1.")
    check_source(source)
    refuse_if_taken(out)
    video = VideoFile(source) if is_video(source) else None
    pictures = images(source) if video is None else _frames(video)
    total = len(_image_files(source)) if video is None else video.frames
    with _written(out) as folder:
        looked_at = watch(detected(pictures, detect, threshold), total)
        if video is None:
            seen = _write_pictures(folder, looked_at, classes)
        else:
            seen = _write_video(folder / f"{source.stem}.mp4", looked_at, classes, video)
        write_json(folder / "detections.json", _coco(seen, classes))
    if video is not None and video.damage:
        tell(f"{source} could be read up to frame {len(seen)}: {video.damage}.")
    if video is not None and video.corrupt:
        damaged = f"{pluralize(len(video.corrupt), 'frame')} of {source} damaged, such as frame {video.corrupt[0]}"
        tell(f"{damaged}: what is found there may be wrong.")
    found = [len(one.detections) for one in seen]
    tell(f"{pluralize(sum(found), 'object')} in {sum(map(bool, found))} of {pluralize(len(seen), 'frame')}.")
    return len(seen)


def check_source(source: Path) -> None:
    """Raise unless all of it seems to be something to look at. Images are not decoded: that would be done twice."""
    if not source.exists():
        raise InvalidData(f"No file or folder '{source}'.")
    if is_video(source):
        VideoFile(source)
        return
    if not (files := _image_files(source)):
        raise InvalidData(f"{source} holds no images ({', '.join(sorted(IMAGES))}).")
    for file in files:
        with open_image(file) as image:
            image.verify()


def is_video(source: Path) -> bool:
    """Whatever is a file and not an image."""
    return source.is_file() and source.suffix.lower() not in IMAGES


def detected(pictures: Iterable[Picture], detect: Predict, threshold: float) -> Iterator[LookedAt]:
    """Each picture with what is found above the threshold; a few in memory at a time."""
    for batch in _batches(pictures):
        for picture, found in zip(batch, detect([picture.image for picture in batch]), strict=True):
            height, width = picture.image.shape[:2]
            yield picture, Found(picture.name, (height, width), picture.seconds, found.above(threshold))


def images(source: Path) -> Iterator[Picture]:
    """One image, or all in a folder in the order of their names, numbers by value; each upright, as it was taken."""
    for file in _image_files(source):
        yield Picture(file.name, read_pixels(file, upright=True))


def frames_progress(console: Console) -> Progress:
    """A line that tells frames done, rate and time left."""
    return Progress(
        TextColumn("looking"), BarColumn(), MofNCompleteColumn(), Rate("frame"), TimeRemainingColumn(), console=console
    )


@contextmanager
def _written(out: Path) -> Iterator[Path]:
    """The folder to write to; what the disk refuses, such as a name that is too long, is told in one line."""
    try:
        with atomic_directory(out) as folder:
            yield folder
    except OSError as error:
        raise InvalidData(f"{one_line(error.filename or out)}: {error.strerror or error}.") from error


def _frames(video: VideoFile) -> Iterator[Picture]:
    for number, (image, seconds) in enumerate(video):
        yield Picture(f"{video.path.stem}_{number:06d}", image, seconds)


def _batches(pictures: Iterable[Picture]) -> Iterator[list[Picture]]:
    """Pictures of one size: beside a larger one, a picture would be padded, and that can change what is found in it."""
    batch: list[Picture] = []
    for picture in pictures:
        if batch and picture.image.shape != batch[0].image.shape:
            yield batch
            batch = []
        batch.append(picture)
        if len(batch) == BATCH or len(batch) * picture.image.size >= 3 * BATCH_PIXELS:
            yield batch
            batch = []
    if batch:
        yield batch


def _write_pictures(folder: Path, looked_at: Iterable[LookedAt], classes: Sequence[str]) -> list[Found]:
    seen = []
    for picture, found in looked_at:
        # a.jpg and a.png may lie in one folder.
        file = find_free_path(folder / f"{Path(found.name).stem}.png")
        # Drawn pictures are looked at, not kept: quick to write is better than small.
        PillowImage.fromarray(_annotated(picture.image, found, classes)).save(file, compress_level=1)
        seen.append(found)
    return seen


def _write_video(path: Path, looked_at: Iterable[LookedAt], classes: Sequence[str], like: VideoFile) -> list[Found]:
    seen: list[Found] = []

    def shown() -> Iterator[TimedImage]:
        for picture, found in looked_at:
            seen.append(found)
            yield TimedImage(_annotated(picture.image, found, classes), picture.seconds or Fraction())

    write_video(path, shown(), like)
    return seen


def _annotated(image: Image, found: Found, classes: Sequence[str]) -> Image:
    scale = max(1, LEGIBLE_WIDTH // image.shape[1])
    return np.asarray(draw_contact_sheet([(image, found.detections)], classes, columns=1, scale=scale))


def _coco(seen: Sequence[Found], classes: Sequence[str]) -> dict[str, Any]:
    """COCO form, with a score on each annotation."""
    return {
        "images": [
            {"id": number, "file_name": one.name, "height": one.size[0], "width": one.size[1], **_time(one)}
            for number, one in enumerate(seen)
        ],
        "annotations": to_coco_results({number: one.detections for number, one in enumerate(seen)}),
        "categories": [{"id": number, "name": name} for number, name in enumerate(classes, start=1)],
    }


def _time(found: Found) -> dict[str, float]:
    return {} if found.seconds is None else {"seconds": round(float(found.seconds), 6)}


def _image_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    files = (file for file in source.iterdir() if file.suffix.lower() in IMAGES)
    return sorted(files, key=lambda file: natural_key(file.name))
