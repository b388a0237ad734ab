"""Checks of the images of a recording: whether each can be read, and has the size that its record says."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from leocod.errors import InvalidFrame
from leocod.files.images import SIDEWAYS, Upright, read_orientation, read_pixels, read_size
from leocod.readers.recording import Entry, Problem
from leocod.text import one_line, strip_file_name
from leocod.types import Frame, Image

Progress = Callable[[int], None]
"""Called for each image that has been checked, with the number of all images."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class BrokenImage:
    """Stands in for an image that was found broken when the files were read."""

    what: str

    def image(self) -> Image:
        raise InvalidFrame(self.what)


def check_images(entries: Sequence[Entry], *, quick: bool, upright: bool, progress: Progress) -> Generator[Problem]:
    """Find the problems of the images of these frames; with `quick` only their headers are read.

    `upright`: whether images are turned as their EXIF notes say.
    """
    with closing(map_in_threads(partial(_find_problems, quick=quick, upright=upright), entries)) as checked:
        for problems in checked:
            progress(len(entries))
            yield from problems


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result]:
    """Yield the result for each item, in order. Made for images: Pillow decodes without holding the interpreter lock.

    A caller that may leave early must close the generator. The garbage collector might close it while another thread
    is starting, and would wait for that thread forever.
    """
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        yield from pool.map(work, items)
    finally:
        # A caller that leaves early does not wait for the rest.
        pool.shutdown(cancel_futures=True)


def find_faults(frames: Sequence[Frame]) -> Generator[InvalidFrame | None]:
    """Decode each frame, and yield what is wrong with it or None. A caller that may leave early must close this."""
    if all(isinstance(frame.content, Path | Upright | BrokenImage) for frame in frames):
        with closing(map_in_threads(_find_fault, frames)) as faults:
            yield from faults
    else:
        # Frames of a video file are decoded fastest in order.
        yield from map(_find_fault, frames)


def _find_fault(frame: Frame) -> InvalidFrame | None:
    try:
        frame.image()
    except InvalidFrame as error:
        return error
    return None


def explain_size_mismatch(error: InvalidFrame, frame: Frame, record: str, *, upright: bool) -> InvalidFrame:
    """Add the record and the cure to an error that comes from an image of another size than its record says."""
    path = frame.content.path if isinstance(frame.content, Upright) else frame.content
    try:
        if not isinstance(path, Path) or (size := read_size(path, upright=upright)) == frame.size:
            return error
    except InvalidFrame:
        return error
    names = ", ".join(dict.fromkeys(name for name in (record, str(path)) if name))
    return InvalidFrame(one_line(f"{names}: {describe_size_mismatch(path, frame.size, size, upright=upright)}"))


def describe_size_mismatch(path: Path, stated: tuple[int, int], real: tuple[int, int], *, upright: bool) -> str:
    """Describe an image whose size is not what its record states, with the cause and the cure.

    Sizes are height and width. With `upright`, the real one is that of the image turned as its EXIF note says.
    """
    says, has = (f"{width} x {height}" for height, width in (stated, real))
    orientation = read_orientation(path)
    if orientation not in SIDEWAYS or stated != real[::-1]:
        return f"it is {has} pixels large, but its record says {says}. Correct the record."
    if upright:
        return (
            f"it is {has} pixels large once it is turned as the file notes (EXIF orientation {orientation}), but its "
            f"record says {says}, as it is stored. Label the picture as it is shown, or use the benchmark coco_video."
        )
    return (
        f"it is stored as {has} pixels, but its record says {says}: the file notes that it is to be turned (EXIF "
        f"orientation {orientation}), which is not followed here, as in COCO. Save it turned and without that note, "
        "such as with `mogrify -auto-orient`."
    )


def _find_problems(entry: Entry, *, quick: bool, upright: bool) -> list[Problem]:
    path, record = entry.picture, f"frame {entry.index} of {entry.video}"
    try:
        orientation = read_orientation(path)
        size = read_size(path, upright=upright)
        if not quick:
            read_pixels(path)
    except InvalidFrame as error:
        return [Problem(path, record, strip_file_name(path, error), frame=entry.id, kind="picture")]
    if entry.size is not None and size != entry.size:
        what = describe_size_mismatch(path, entry.size, size, upright=upright)
        return [Problem(path, record, what, frame=entry.id, kind="size")]
    if orientation != 1 and not upright:
        what = (
            f"the file notes that it is to be turned (EXIF orientation {orientation}). It is used as it is stored, as "
            "in COCO: its boxes must be, too."
        )
        return [Problem(path, record, what, breaks=False, kind="turned picture")]
    return []
