"""Image files: size and orientation from the header, pixels, and one line about what is wrong with a file."""

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
"""Formats that are read, whatever a file is called. Pillow has more, but some of its readers start other programs."""

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""Endings of such files."""

LARGEST = 64_000_000
"""Pixels of the largest picture that is decoded: more could fill the memory."""

ORIENTATION = 0x0112
"""The EXIF tag that says how the camera was held."""

TURNS = {
    2: PillowImage.Transpose.FLIP_LEFT_RIGHT,
    3: PillowImage.Transpose.ROTATE_180,
    4: PillowImage.Transpose.FLIP_TOP_BOTTOM,
    5: PillowImage.Transpose.TRANSPOSE,
    6: PillowImage.Transpose.ROTATE_270,
    7: PillowImage.Transpose.TRANSVERSE,
    8: PillowImage.Transpose.ROTATE_90,
}
"""Orientation -> the turn that makes a picture upright; 1 is upright already."""

SIDEWAYS = range(5, 9)
"""Orientations that swap height and width."""

CURE = "Put the image there, or take its record out of the data."
"""What to do about a picture that is missing or empty."""


@dataclass(frozen=True)
class Upright:
    """A picture that is turned as its EXIF note says, such as a photo taken with a phone held upright."""

    path: Path

    def image(self) -> Image:
        return read_pixels(self.path, upright=True)


def read_size(path: Path, *, upright: bool = False) -> tuple[int, int]:
    """Read height and width from the header alone; as stored, or as they are once the picture is turned."""
    with open_image(path) as file:
        swapped = upright and _read_orientation(file) in SIDEWAYS
        return (file.width, file.height) if swapped else (file.height, file.width)


def read_pixels(path: Path, *, upright: bool = False) -> Image:
    """Read the pixels, height x width x 3, red first; as stored, or turned as the EXIF note says."""
    with open_image(path) as file:
        # Read before the pixels, as for the size: some formats may have another note at their end.
        turn = TURNS.get(_read_orientation(file)) if upright else None
        pixels = file.convert("RGB")
        return np.asarray(pixels if turn is None else pixels.transpose(turn))


def read_orientation(path: Path) -> int:
    """Read the EXIF note on how the camera was held. 1 is upright, also where there is no note."""
    with open_image(path) as file:
        return _read_orientation(file)


def _read_orientation(file: PillowImage.Image) -> int:
    # Pillow turns a TIFF itself, and would decode all of a PNG to find a note after the pixels.
    if file.format == "TIFF" or (file.format == "PNG" and "exif" not in file.info):
        return 1
    try:
        orientation = file.getexif().get(ORIENTATION, 1)
    # A damaged note counts as none: the pixels may be whole.
    except Exception:
        return 1
    return orientation if orientation in TURNS else 1


@contextmanager
def open_image(path: Path) -> Iterator[PillowImage.Image]:
    """Open an image. Errors inside the block are errors of the file, too: Pillow decodes late."""
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
    # Damage can end in almost any error in Pillow's readers: OSError, SyntaxError, ValueError, struct.error, ...
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = "unknown format" if isinstance(error, UnidentifiedImageError) else one_line(reason)
        raise InvalidFrame(f"{one_line(path)} is not a readable image ({reason}). Replace the file.") from error
