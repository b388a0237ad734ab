"""Image files: their size from the header, their pixels, and whatever is wrong with one in a single line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import UnidentifiedImageError

from leocod.errors import InvalidFrame, MissingFrame
from leocod.files.paths import explain_absence
from leocod.text import one_line

Image = NDArray[np.uint8]
"""Pixels, height x width x 3, red first."""

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""What is read, whatever a file is called. Not everything that Pillow can: some of its readers start other programs."""

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""What such files are called."""

LARGEST = 64_000_000
"""Pixels of the largest picture that is decoded: more would fill the memory before anyone could look at it."""

ORIENTATION = 0x0112
"""The EXIF note on how the camera was held."""

TURNS = {
    2: PillowImage.Transpose.FLIP_LEFT_RIGHT,
    3: PillowImage.Transpose.ROTATE_180,
    4: PillowImage.Transpose.FLIP_TOP_BOTTOM,
    5: PillowImage.Transpose.TRANSPOSE,
    6: PillowImage.Transpose.ROTATE_270,
    7: PillowImage.Transpose.TRANSVERSE,
    8: PillowImage.Transpose.ROTATE_90,
}
"""Orientation -> what makes a picture upright; 1 is upright already."""

SIDEWAYS = range(5, 9)
"""Orientations that swap height and width."""

CURE = "Put the image there, or take its record out of the data."
"""Of a picture that is missing or empty."""


@dataclass(frozen=True)
class Upright:
    """A picture to be turned as its file notes, such as a photo taken with a phone held upright."""

    path: Path

    def image(self) -> Image:
        return read_pixels(self.path, upright=True)


def read_size(path: Path, *, upright: bool = False) -> tuple[int, int]:
    """Height and width, from the header alone; as stored, or as they are once it is turned."""
    with open_image(path) as file:
        swapped = upright and _read_orientation(file) in SIDEWAYS
        return (file.width, file.height) if swapped else (file.height, file.width)


def read_pixels(path: Path, *, upright: bool = False) -> Image:
    """Height x width x 3, red first. As stored, unless it is to be turned as the file notes."""
    with open_image(path) as file:
        # Looked up before anything is decoded, as for the size: some formats may have further notes at their end.
        turn = TURNS.get(_read_orientation(file)) if upright else None
        pixels = file.convert("RGB")
        return np.asarray(pixels if turn is None else pixels.transpose(turn))


def read_orientation(path: Path) -> int:
    """How the camera was held, by the file's EXIF note: 1 is upright, which is also what no note means."""
    with open_image(path) as file:
        return _read_orientation(file)


def _read_orientation(file: PillowImage.Image) -> int:
    # Pillow turns a TIFF itself, and would decode all of a PNG to look for a note after the pixels.
    if file.format == "TIFF" or (file.format == "PNG" and "exif" not in file.info):
        return 1
    try:
        noted = file.getexif().get(ORIENTATION, 1)
    # A damaged note is none: the pixels may well be whole.
    except Exception:
        return 1
    return noted if noted in TURNS else 1


@contextmanager
def open_image(path: Path) -> Iterator[PillowImage.Image]:
    """The opened image. Errors inside the block are the file's too: Pillow decodes late."""
    if absent := explain_absence(path):
        raise MissingFrame(f"{one_line(path)}: {absent}. {CURE}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PillowImage.DecompressionBombWarning)
            with PillowImage.open(path, formats=FORMATS) as file:
                if file.width * file.height > LARGEST:
                    raise PillowImage.DecompressionBombError
                yield file
    except (PillowImage.DecompressionBombError, PillowImage.DecompressionBombWarning) as error:
        many = f"more than {LARGEST // 10**6} million pixels"
        raise InvalidFrame(f"{one_line(path)} has {many}. Make it smaller.") from error
    # Damage can end in almost any error inside Pillow's readers: OSError, SyntaxError, ValueError, struct.error, ...
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = "unknown format" if isinstance(error, UnidentifiedImageError) else one_line(reason)
        raise InvalidFrame(f"{one_line(path)} is not a readable image ({reason}). Replace the file.") from error
