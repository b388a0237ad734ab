"""Image files: their size from the header, their pixels, and whatever is wrong with one in a single line."""

from __future__ import annotations

import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import UnidentifiedImageError

from leocod.errors import InvalidFrame

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""What is read, whatever a file is called. Not everything that Pillow can: some of its readers start other programs."""

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""What such files are called."""

LARGEST = 64_000_000
"""Pixels of the largest picture that is decoded: more would fill the memory before anyone could look at it."""


def size_of(path: Path) -> tuple[int, int]:
    """Height and width, from the header alone."""
    with opened(path) as file:
        return file.height, file.width


def pixels_of(path: Path) -> NDArray[np.uint8]:
    """Height x width x 3, red first. As stored: a note in the file on how to turn it is not followed, as in COCO."""
    with opened(path) as file:
        return np.asarray(file.convert("RGB"))


def why_absent(path: Path) -> str | None:
    """What keeps a path from being a file with something in it; None when it is one. Quick: it opens nothing."""
    try:
        found = path.stat()
    except OSError as error:
        return "no such file" if isinstance(error, FileNotFoundError) else (error.strerror or str(error)).lower()
    if not stat.S_ISREG(found.st_mode):
        return "not a file"
    return None if found.st_size else "the file is empty"


@contextmanager
def opened(path: Path) -> Iterator[PillowImage.Image]:
    """The opened image. Errors inside the block are the file's too: Pillow decodes late."""
    if absent := why_absent(path):
        raise InvalidFrame(f"{path}: {absent}. Put the image there, or take its record out of the data.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PillowImage.DecompressionBombWarning)
            with PillowImage.open(path, formats=FORMATS) as file:
                if file.width * file.height > LARGEST:
                    raise PillowImage.DecompressionBombError
                yield file
    except (PillowImage.DecompressionBombError, PillowImage.DecompressionBombWarning) as error:
        raise InvalidFrame(f"{path} has more than {LARGEST // 10**6} million pixels. Make it smaller.") from error
    # Damage can end in almost any error inside Pillow's readers: OSError, SyntaxError, ValueError, struct.error, ...
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = "unknown format" if isinstance(error, UnidentifiedImageError) else reason
        raise InvalidFrame(f"{path} is not a readable image ({reason}). Replace the file.") from error
