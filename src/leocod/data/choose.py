"""Choose the frames of videos that are worth labelling: spread over their whole length, each new, none blurred."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.videos import VideoFile
from leocod.readers.frame_numbers import refuse_same_names
from leocod.readers.video_frames import VideoFrames
from leocod.text import one_line
from leocod.types import Image

SPOTS = 5
"""Places in a part at which a frame is looked for, at most."""

NEIGHBOURS = 9
"""Frames around a spot of which the sharpest is taken."""

AROUND = Fraction(1, 2)
"""Seconds in which these frames lie. The view hardly changes in that time, so sharpness can be compared."""

LOOKED_AT = 480
"""Pixels of the longer side when sharpness is measured: noise of single pixels is no sharpness."""

GRID = 16
"""Cells, across and down, in which two frames are compared."""

SAME = 12.0
"""Levels of 255. Two frames are near-duplicates if no cell of one differs more from the other's."""

Signature = NDArray[np.float32]


@dataclass(frozen=True)
class ChosenFrame:
    """A frame worth labelling."""

    video: Path
    number: int
    seconds: float
    """From the beginning, by the mean rate of the video."""
    image: Image


@dataclass(frozen=True)
class Part:
    """One of the equal parts of a video, each of which gives a frame at most."""

    video: VideoFrames
    rate: Fraction
    start: int
    end: int
    """The first frame that is not in it."""


def divide_videos(videos: Sequence[Path], *, frames: int | None = None, every: float | None = None) -> list[Part]:
    """Divide videos into equal parts: so many in all, by the lengths of the videos, or one for each so many seconds."""
    for video in videos:
        if not video.is_file():
            what = "a folder: label its pictures as they are" if video.is_dir() else "no such file"
            raise InvalidData(f"{one_line(video)}: {what}. Frames are chosen from video files.")
    refuse_same_names(videos)
    opened = [VideoFrames(video) for video in videos]
    rates = [VideoFile(video).rate for video in videos]
    seconds = [len(video) / rate for video, rate in zip(opened, rates, strict=True)]
    counts = _share(frames, seconds) if frames is not None else [round(one / Fraction(every or 1)) for one in seconds]
    return [
        Part(video, rate, *edges)
        for video, rate, count in zip(opened, rates, counts, strict=True)
        for edges in _cut(len(video), count)
    ]


def choose_frames(parts: Sequence[Part], progress: Callable[[int], None] = lambda total: None) -> Iterator[ChosenFrame]:
    """Choose a frame of each part, in order; a part that shows nothing new gives none.

    At each spot of a part the sharpest of the neighbouring frames is looked at, by the variance of its Laplacian
    (Pech-Pacheco et al., ICPR 2000). The first that is no near-duplicate of a frame chosen before is taken.
    """
    chosen: list[Signature] = []
    for part in parts:
        for number, image in _list_sharpest(part):
            signature = make_signature(image)
            if all(is_new(signature, other) for other in chosen):
                chosen.append(signature)
                yield ChosenFrame(part.video.path, number, float(number / part.rate), image)
                break
        progress(len(parts))
    for video in {id(part.video): part.video for part in parts}.values():
        video.close()


def measure_sharpness(image: Image) -> float:
    """The variance of the Laplacian: low where edges are smeared."""
    picture = PillowImage.fromarray(image).convert("L")
    factor = max(1, -(-max(picture.size) // LOOKED_AT))
    grey = np.asarray(picture.reduce(factor), np.float32)
    if min(grey.shape) < 3:
        return 0.0
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float((around - 4 * grey[1:-1, 1:-1]).var())


def make_signature(image: Image) -> Signature:
    """The mean colour of each cell, less that of the frame: a change of light everywhere is no change."""
    small = PillowImage.fromarray(image).resize((GRID, GRID), PillowImage.Resampling.BOX)
    cells = np.asarray(small, np.float32)
    signature: Signature = cells - cells.mean(axis=(0, 1))
    return signature


def is_new(signature: Signature, other: Signature) -> bool:
    """Whether two frames differ in a cell at least: in something as large as a 16th of the picture's side."""
    return float(np.abs(signature - other).max()) > SAME


def _list_sharpest(part: Part) -> Iterator[tuple[int, Image]]:
    """Yield the sharpest frame at each spot of a part. Frames that cannot be decoded are passed over."""
    length, reach = part.end - part.start, part.rate * AROUND / 2
    # Spots do not overlap, and come in order of time: a video is decoded quickly in one direction only.
    for start, end in _cut(length, min(SPOTS, int(length / (2 * reach)))):
        middle = Fraction(start + end - 1, 2)
        first, last = max(start, ceil(middle - reach)), min(end - 1, floor(middle + reach))
        numbers = np.unique(np.linspace(first, last, NEIGHBOURS).round().astype(int) + part.start).tolist()
        found = [(number, image) for number in numbers if (image := _decode(part.video, number)) is not None]
        if found:
            yield max(found, key=lambda pair: measure_sharpness(pair[1]))


def _decode(video: VideoFrames, number: int) -> Image | None:
    try:
        return video.image(number)
    except InvalidFrame:
        return None


def _share(frames: int, seconds: Sequence[Fraction]) -> list[int]:
    """Share frames among videos by their lengths; the largest remainders get what is left.

    >>> _share(5, [Fraction(30), Fraction(10)])
    [4, 1]
    """
    exact = [frames * one / sum(seconds) for one in seconds]
    counts = [int(one) for one in exact]
    by_rest = sorted(range(len(exact)), key=lambda place: counts[place] - exact[place])
    for place in by_rest[: frames - sum(counts)]:
        counts[place] += 1
    return counts


def _cut(length: int, count: int) -> list[tuple[int, int]]:
    """Cut frames into so many parts, at least one and not more than there are frames."""
    count = min(max(count, 1), length)
    edges = [length * place // count for place in range(count + 1)]
    return list(pairwise(edges))
