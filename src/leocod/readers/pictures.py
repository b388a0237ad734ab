"""The pictures of a recording, looked at: whether each can be read, and is what its record says."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from leocod.errors import InvalidFrame
from leocod.files.images import SIDEWAYS, Upright, read_orientation, read_pixels, read_size
from leocod.readers.recording import Entry, Problem
from leocod.text import one_line, strip_file_name
from leocod.types import Frame, Image

Tell = Callable[[int], None]
"""Called for each picture that has been looked at, with how many there are."""


@dataclass(frozen=True)
class Lost:
    """In place of a picture that was found broken when the files were read."""

    what: str

    def image(self) -> Image:
        raise InvalidFrame(self.what)


One = TypeVar("One")
Other = TypeVar("Other")


def look_at_pictures(entries: Sequence[Entry], *, quick: bool, upright: bool, tell: Tell) -> Generator[Problem]:
    """What is wrong with the pictures of these frames; with `quick` only their headers are read.

    `upright`: whether what a file notes on how to turn it is followed.
    """
    with closing(in_threads(lambda entry: _problems(entry, quick=quick, upright=upright), entries)) as looked_at:
        for problems in looked_at:
            tell(len(entries))
            yield from problems


def in_threads(work: Callable[[One], Other], things: Iterable[One]) -> Generator[Other]:
    """The result for each thing, in order. For pictures: Pillow decodes without holding the interpreter.

    To be closed by whoever may leave early: left to the garbage collector, which may come in the middle of starting
    another thread, its end would wait for that thread forever.
    """
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        yield from pool.map(work, things)
    finally:
        # Whoever has seen enough does not want to wait for the rest.
        pool.shutdown(cancel_futures=True)


def faults_of(frames: Sequence[Frame]) -> Generator[InvalidFrame | None]:
    """For each frame, what is wrong with its pixels. All are decoded. To be closed by whoever may leave early."""
    if all(isinstance(frame.content, Path | Upright | Lost) for frame in frames):
        with closing(in_threads(_fault, frames)) as faults:
            yield from faults
    else:
        # The frames of a film are quickest in order.
        yield from map(_fault, frames)


def _fault(frame: Frame) -> InvalidFrame | None:
    try:
        frame.image()
    except InvalidFrame as error:
        return error
    return None


def explained(error: InvalidFrame, frame: Frame, record: str, *, upright: bool) -> InvalidFrame:
    """The error with the record and the cure, if a picture of another size than its record says is behind it."""
    picture = frame.content.path if isinstance(frame.content, Upright) else frame.content
    try:
        if not isinstance(picture, Path) or (found := read_size(picture, upright=upright)) == frame.size:
            return error
    except InvalidFrame:
        return error
    named = ", ".join(dict.fromkeys(name for name in (record, str(picture)) if name))
    return InvalidFrame(one_line(f"{named}: {misfit(picture, frame.size, found, upright=upright)}"))


def misfit(picture: Path, said: tuple[int, int], found: tuple[int, int], *, upright: bool) -> str:
    """What is to be said of a picture whose size is not what its record says, its cause and the cure.

    Sizes are height and width; `found` is that of the picture, turned as its file notes if that is followed.
    """
    told, seen = (f"{width} x {height}" for height, width in (said, found))
    noted = read_orientation(picture)
    if noted not in SIDEWAYS or said != found[::-1]:
        return f"it is {seen} pixels large, but its record says {told}. Correct the record."
    if upright:
        return (
            f"it is {seen} pixels large once it is turned as the file notes (EXIF orientation {noted}), but its record "
            f"says {told}, as it is stored. Label the picture as it is shown, or use the benchmark coco_video."
        )
    return (
        f"it is stored as {seen} pixels, but its record says {told}: the file notes that it is to be turned (EXIF "
        f"orientation {noted}), which is not followed here, as in COCO. Save it turned and without that note, such as "
        "with `mogrify -auto-orient`."
    )


def _problems(entry: Entry, *, quick: bool, upright: bool) -> list[Problem]:
    picture, record = entry.picture, f"frame {entry.index} of {entry.video}"
    try:
        noted = read_orientation(picture)
        size = read_size(picture, upright=upright)
        if not quick:
            read_pixels(picture)
    except InvalidFrame as error:
        return [Problem(picture, record, strip_file_name(picture, error), frame=entry.id, kind="picture")]
    if entry.size is not None and size != entry.size:
        what = misfit(picture, entry.size, size, upright=upright)
        return [Problem(picture, record, what, frame=entry.id, kind="size")]
    if noted != 1 and not upright:
        what = (
            f"the file notes that it is to be turned (EXIF orientation {noted}). It is used as it is stored, as in "
            "COCO: its boxes must be, too."
        )
        return [Problem(picture, record, what, breaks=False, kind="turned picture")]
    return []
