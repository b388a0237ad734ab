"""Use what a run has learnt: detections in one's own images or video, drawn and as COCO results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image as PillowImage

from leocod.errors import InvalidData
from leocod.report.contact_sheet import contact_sheet
from leocod.rundir import free_path, replacing, write_json
from leocod.sinks.detections import coco_results
from leocod.types import Detections, Image

IMAGES = {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"}
BATCH = 16
"""Images looked at together."""
LEGIBLE_WIDTH = 640
"""Smaller pictures are enlarged until their labels can be read."""

Predict = Callable[[Sequence[Image]], list[Detections]]


@dataclass(frozen=True)
class Found:
    """What was found in one image or video frame. Without its pixels: a video has many."""

    name: str
    size: tuple[int, int]
    """Height and width in pixels."""
    detections: Detections


def predict(source: Path, out: Path, detect: Predict, classes: Sequence[str], *, threshold: float) -> int:
    """Write annotated pictures, or an annotated video, and detections.json to `out`; returns how many frames."""
    if not 0 <= threshold <= 1:
        raise InvalidData(f"The threshold is {threshold}: it should be from 0 to 1.")
    check_source(source)
    if is_video(source):
        seen = _write_video(
            out / f"{source.stem}.mp4", detected(video_frames(source), detect, threshold), classes, source
        )
    else:
        seen = _write_pictures(out, detected(images(source), detect, threshold), classes)
    write_json(out / "detections.json", _coco(seen, classes))
    return len(seen)


def check_source(source: Path) -> None:
    """Raise unless all of it can be looked at: nothing is written before that is known."""
    if not source.exists():
        raise InvalidData(f"No file or folder '{source}'.")
    if is_video(source):
        _opened(source).close()
        return
    if not (files := _image_files(source)):
        raise InvalidData(f"{source} holds no images ({', '.join(sorted(IMAGES))}).")
    for file in files:
        try:
            with PillowImage.open(file) as image:
                image.verify()
        # Pillow's readers raise SyntaxError for some kinds of damage.
        except (OSError, SyntaxError) as error:
            raise InvalidData(f"{file} is not a readable image.") from error


def is_video(source: Path) -> bool:
    """Whatever is a file and not an image."""
    return source.is_file() and source.suffix.lower() not in IMAGES


def detected(frames: Iterable[tuple[str, Image]], detect: Predict, threshold: float) -> Iterator[tuple[Image, Found]]:
    """Each image with what is found above the threshold; a few images in memory at a time."""
    pending = iter(frames)
    while batch := list(islice(pending, BATCH)):
        for (name, image), found in zip(batch, detect([image for _, image in batch]), strict=True):
            yield image, Found(name, (image.shape[0], image.shape[1]), found.above(threshold))


def images(source: Path) -> Iterator[tuple[str, Image]]:
    """Name and pixels of one image, or of all images in a folder in the order of their names."""
    for file in _image_files(source):
        with PillowImage.open(file) as image:
            yield file.name, np.asarray(image.convert("RGB"))


def video_frames(source: Path) -> Iterator[tuple[str, Image]]:
    """Number and pixels of every frame of a video."""
    with _opened(source) as container:
        frames = container.decode(video=0)
        number = 0
        while True:
            try:
                frame = next(frames, None)
            except av.FFmpegError as error:
                # A multipart MJPEG file ends with a boundary, which is read as a broken frame.
                if number == 0:
                    raise InvalidData(f"{source} is not a readable video ({error}).") from error
                return
            if frame is None:
                return
            yield f"{source.stem}_{number:06d}", frame.to_ndarray(format="rgb24")
            number += 1


def _write_pictures(folder: Path, looked_at: Iterable[tuple[Image, Found]], classes: Sequence[str]) -> list[Found]:
    folder.mkdir(parents=True, exist_ok=True)
    seen = []
    for image, found in looked_at:
        # a.jpg and a.png may lie in one folder.
        file = free_path(folder / f"{Path(found.name).stem}.png")
        PillowImage.fromarray(_annotated(image, found, classes)).save(file)
        seen.append(found)
    return seen


def _write_video(
    path: Path, looked_at: Iterable[tuple[Image, Found]], classes: Sequence[str], source: Path
) -> list[Found]:
    seen = []
    with replacing(path) as temporary, av.open(str(temporary), "w", format="mp4") as container:
        stream: Any = None
        for image, found in looked_at:
            picture = _annotated(image, found, classes)
            # The codec takes even sizes only.
            even = np.ascontiguousarray(picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2])
            if stream is None:
                stream = container.add_stream("libx264", rate=_frame_rate(source))
                stream.height, stream.width, stream.pix_fmt = even.shape[0], even.shape[1], "yuv420p"
            container.mux(stream.encode(av.VideoFrame.from_ndarray(even, format="rgb24")))
            seen.append(found)
        if stream is None:
            raise InvalidData(f"{source} has no frames.")
        container.mux(stream.encode())
    return seen


def _annotated(image: Image, found: Found, classes: Sequence[str]) -> Image:
    scale = max(1, LEGIBLE_WIDTH // image.shape[1])
    return np.asarray(contact_sheet([(image, found.detections)], classes, columns=1, scale=scale))


def _coco(seen: Sequence[Found], classes: Sequence[str]) -> dict[str, Any]:
    """COCO form, with a score on each annotation."""
    return {
        "images": [
            {"id": number, "file_name": one.name, "height": one.size[0], "width": one.size[1]}
            for number, one in enumerate(seen)
        ],
        "annotations": coco_results({number: one.detections for number, one in enumerate(seen)}),
        "categories": [{"id": number, "name": name} for number, name in enumerate(classes, start=1)],
    }


def _image_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    return sorted(file for file in source.iterdir() if file.suffix.lower() in IMAGES)


def _frame_rate(source: Path) -> Fraction:
    with _opened(source) as container:
        return Fraction(container.streams.video[0].average_rate or 25)


def _opened(source: Path) -> Any:
    try:
        container = av.open(str(source))
    except (av.FFmpegError, OSError) as error:
        raise InvalidData(f"{source} is neither an image nor a readable video.") from error
    if not container.streams.video:
        container.close()
        raise InvalidData(f"{source} has no video in it.")
    return container
