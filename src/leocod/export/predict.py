"""Detects objects in images or a video with the detector of a run: annotated pictures and COCO results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image as PillowImage
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from leocod.errors import InvalidData, InvalidFrame
from leocod.evaluation.coco_form import to_coco_results
from leocod.files.atomic import atomic_directory, write_json
from leocod.files.images import open_image, read_pixels
from leocod.files.run_directory import find_free_path, refuse_if_taken
from leocod.files.videos import TimedImage, VideoFile, write_video
from leocod.report.contact_sheet import draw_contact_sheet
from leocod.sinks.console import Rate
from leocod.text import natural_key, one_line, pluralize
from leocod.types import Detections, Image, Images

IMAGES = {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"}
BATCH = 16
"""The most images that are predicted together."""
BATCH_PIXELS = 32_000_000
"""A batch that has this many pixels gets no more images."""
LEGIBLE_WIDTH = 640
"""Smaller pictures are enlarged so that their labels can be read."""

Predict = Callable[[Sequence[Image]], list[Detections]]


@dataclass(frozen=True, eq=False)
class Picture:
    """An image, or a frame of a video."""

    name: str
    image: Image
    seconds: Fraction | None = None
    """Time of a video frame, from the first frame on."""


@dataclass(frozen=True)
class PictureDetections:
    """What was detected in one picture, without its pixels: a video has many pictures."""

    name: str
    size: tuple[int, int]
    """Height and width in pixels."""
    seconds: Fraction | None
    detections: Detections


class Summary(NamedTuple):
    """What was looked at, and what could not be."""

    frames: int
    unreadable: tuple[str, ...] = ()
    """One line about each image of a folder that could not be read."""


Predicted = tuple[Picture, PictureDetections]
Track = Callable[[Iterator[Predicted], int | None], Iterable[Predicted]]
"""Passes on its first argument and may show progress. The second is the number of pictures, where it is known."""


class BestScore:
    """Passes on what a detector finds, and remembers the best score of all."""

    def __init__(self, detect: Predict) -> None:
        self.detect = detect
        self.best = 0.0

    def __call__(self, images: Images) -> list[Detections]:
        found = self.detect(images)
        self.best = max([self.best, *(float(one.scores.max()) for one in found if len(one))])
        return found


def predict(
    source: Path,
    out: Path,
    detect: Predict,
    classes: Sequence[str],
    *,
    threshold: float,
    track: Track = lambda predicted, _: predicted,
    tell: Callable[[str], None] = lambda _: None,
) -> Summary:
    """Write annotated pictures, or an annotated video, and detections.json to `out`.

    `out` appears when all of it is written, and not before. An image of a folder that cannot be read is left out.
    """
    if not 0 <= threshold <= 1:
        raise InvalidData(f"The threshold is {threshold}: it should be from 0 to 1.")
    check_source(source)
    refuse_if_taken(out)
    video = VideoFile(source) if is_video(source) else None
    unreadable: list[str] = []
    watched = BestScore(detect)
    pictures = read_images(source, unreadable) if video is None else _read_frames(video)
    total = len(_list_images(source)) if video is None else video.frames
    with _new_folder(out) as folder:
        predicted = track(predict_all(pictures, watched, threshold), total)
        if video is None:
            results = _write_pictures(folder, predicted, classes)
            if not results:
                raise InvalidData(f"{source} holds no image that can be read. {unreadable[0]}")
        else:
            results = _write_video(folder / f"{source.stem}.mp4", predicted, classes, video)
        write_json(folder / "detections.json", _to_coco(results, classes))
    if video is not None and video.damage:
        tell(f"{source} could be read up to frame {len(results)}: {video.damage}.")
    if video is not None and video.corrupt:
        damaged = f"{pluralize(len(video.corrupt), 'frame')} of {source} damaged, such as frame {video.corrupt[0]}"
        tell(f"{damaged}: detections there may be wrong.")
    counts = [len(result.detections) for result in results]
    tell(f"{pluralize(sum(counts), 'object')} in {sum(map(bool, counts))} of {pluralize(len(results), 'frame')}.")
    if not any(counts):
        tell(f"The best score is {watched.best:.2f} and the threshold {threshold:g}: a lower --threshold shows more.")
    return Summary(len(results), tuple(unreadable))


def check_source(source: Path) -> None:
    """Raise unless it is a folder with images, or looks like an image or a video. Nothing is decoded."""
    if not source.exists():
        raise InvalidData(f"No file or folder '{source}'.")
    if is_video(source):
        VideoFile(source)
        return
    if not (files := _list_images(source)):
        raise InvalidData(f"{source} holds no images ({', '.join(sorted(IMAGES))}).")
    if source.is_file():
        with open_image(files[0]) as image:
            image.verify()


def is_video(source: Path) -> bool:
    """Whether it is a file that is not an image."""
    return source.is_file() and source.suffix.lower() not in IMAGES


def predict_all(pictures: Iterable[Picture], detect: Predict, threshold: float) -> Iterator[Predicted]:
    """Each picture with its detections above the threshold; only a few pictures are in memory at a time."""
    for batch in _batch(pictures):
        for picture, detections in zip(batch, detect([picture.image for picture in batch]), strict=True):
            height, width = picture.image.shape[:2]
            kept = detections.above(threshold)
            yield picture, PictureDetections(picture.name, (height, width), picture.seconds, kept)


def read_images(source: Path, unreadable: list[str] | None = None) -> Iterator[Picture]:
    """One image, or all in a folder in the order of their names, numbers by value; each upright, as it was taken.

    `unreadable` gets a line about each image of a folder that cannot be read; without it, such an image is an error.
    """
    for file in _list_images(source):
        try:
            picture = Picture(file.name, read_pixels(file, upright=True))
        except InvalidFrame as error:
            if unreadable is None or source.is_file():
                raise
            unreadable.append(str(error))
        else:
            yield picture


def make_progress(console: Console) -> Progress:
    """A line that shows frames done, rate and time left."""
    return Progress(
        TextColumn("predicting"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate("frame"),
        TimeRemainingColumn(),
        console=console,
    )


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """The folder to write to. An error of the disk, such as a name that is too long, becomes one line."""
    try:
        with atomic_directory(out) as folder:
            yield folder
    except OSError as error:
        raise InvalidData(f"{one_line(error.filename or out)}: {error.strerror or error}.") from error


def _read_frames(video: VideoFile) -> Iterator[Picture]:
    for number, (image, seconds) in enumerate(video):
        yield Picture(f"{video.path.stem}_{number:06d}", image, seconds)


def _batch(pictures: Iterable[Picture]) -> Iterator[list[Picture]]:
    """Batches of one size: beside a larger picture a small one would be padded, which can change its detections."""
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


def _write_pictures(folder: Path, predicted: Iterable[Predicted], classes: Sequence[str]) -> list[PictureDetections]:
    results = []
    for picture, result in predicted:
        # a.jpg and a.png may be in one folder.
        file = find_free_path(folder / f"{Path(result.name).stem}.png")
        # Annotated pictures are viewed and not kept: fast writing is better than small files.
        PillowImage.fromarray(_annotate(picture.image, result, classes)).save(file, compress_level=1)
        results.append(result)
    return results


def _write_video(
    path: Path, predicted: Iterable[Predicted], classes: Sequence[str], like: VideoFile
) -> list[PictureDetections]:
    results: list[PictureDetections] = []

    def annotate_frames() -> Iterator[TimedImage]:
        for picture, result in predicted:
            results.append(result)
            yield TimedImage(_annotate(picture.image, result, classes), picture.seconds or Fraction())

    write_video(path, annotate_frames(), like)
    return results


def _annotate(image: Image, result: PictureDetections, classes: Sequence[str]) -> Image:
    scale = max(1, LEGIBLE_WIDTH // image.shape[1])
    return np.asarray(draw_contact_sheet([(image, result.detections)], classes, columns=1, scale=scale))


def _to_coco(results: Sequence[PictureDetections], classes: Sequence[str]) -> dict[str, Any]:
    """COCO form, with a score on each annotation."""
    return {
        "images": [
            {"id": number, "file_name": result.name, "height": result.size[0], "width": result.size[1], **_time(result)}
            for number, result in enumerate(results)
        ],
        "annotations": to_coco_results({number: result.detections for number, result in enumerate(results)}),
        "categories": [{"id": number, "name": name} for number, name in enumerate(classes, start=1)],
    }


def _time(result: PictureDetections) -> dict[str, float]:
    return {} if result.seconds is None else {"seconds": round(float(result.seconds), 6)}


def _list_images(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    files = (file for file in source.iterdir() if file.suffix.lower() in IMAGES)
    return sorted(files, key=lambda file: natural_key(file.name))
