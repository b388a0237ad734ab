"""A checkpoint file: written whole or not at all, and checked before anything in it is believed.

It is a file of torch.save, which is a zip archive; the archive's comment is the SHA-256 of all that comes before it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import torch

from leocod.errors import InvalidRun
from leocod.files.atomic import atomic_write
from leocod.files.run_directory import list_by_step
from leocod.text import one_line

logger = logging.getLogger(__name__)

ENDING = ".pt"

CHECKSUM = 64
"""Length of a SHA-256 in hexadecimal digits."""


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Save tensors and plain values. An OSError, of a full disk for example, leaves everything as it was."""
    with atomic_write(path) as temporary:
        with temporary.open("wb", buffering=0) as raw:
            file = _ErrorKeepingFile(raw)
            try:
                torch.save(dict(state), cast(BinaryIO, file))
            except RuntimeError as error:
                # Torch has words of its own for a disk that is full.
                raise file.error or error from None
        seal(temporary)


def seal(path: Path) -> None:
    """Give an archive a comment, its checksum: the last two bytes of one without say how long it is."""
    with path.open("r+b") as file:
        file.seek(-2, os.SEEK_END)
        file.write(CHECKSUM.to_bytes(2, "little"))
        file.seek(0)
        file.write(_compute_checksum(file, path.stat().st_size))


def _compute_checksum(file: BinaryIO, size: int) -> bytes:
    """Of the next so many bytes."""
    held = hashlib.sha256()
    while block := file.read(min(size, 2**20)):
        held.update(block)
        size -= len(block)
    return held.hexdigest().encode()


def _check_seal(path: Path) -> None:
    """Raise unless a file is to the byte as it was sealed, and not larger than it looks."""
    with path.open("rb") as file:
        expected = _compute_checksum(file, max(path.stat().st_size - CHECKSUM, 0))
        if file.read() != expected:
            raise ValueError("its checksum is missing or does not fit: cut off, damaged, or not a checkpoint")
    with zipfile.ZipFile(path) as archive:
        # Nobody but an attacker compresses what torch does not: a few bytes may become any number of them.
        if packed := [one.filename for one in archive.infolist() if one.compress_type != zipfile.ZIP_STORED]:
            raise ValueError(f"{packed[0]} is compressed")


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What was saved: tensors and plain values only, nothing in the file is run. Damage is an InvalidRun."""
    try:
        _check_seal(path)
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise TypeError(f"a {type(state).__name__}, not a checkpoint")
    # The file may be as it should, and only not be had at the moment.
    except (MemoryError, OSError) as error:
        raise InvalidRun(f"{path} cannot be read ({error}).") from error
    # A file can be damaged, or forged, in more ways than zipfile and torch have errors for.
    except Exception as error:
        raise make_damaged_error(path, error) from error
    return state


class Damaged(InvalidRun):
    """A checkpoint that is not as it was saved, or that does not fit."""


def make_damaged_error(path: Path, error: Exception) -> Damaged:
    """What is wrong with a checkpoint, in one line."""
    first = one_line(str(error).splitlines()[0]) if str(error) else ""
    return Damaged(f"{path} cannot be loaded ({type(error).__name__}: {first[:200]}).")


def newest_checkpoint(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The checkpoint that was saved last and can be read, and its content. Tells of those that cannot.

    None: none is there. None that can be read, where some are, is an error.
    """
    saved = list_by_step(folder, ENDING)
    problems = []
    for path in reversed(saved):
        try:
            return path, read_checkpoint(path)
        except Damaged as error:
            problems.append(error)
            if path != saved[0]:
                logger.warning("%s The one before is used.", error)
    if problems:
        cure = "No other one is left. To begin again with the first step, remove that folder."
        raise InvalidRun(f"{problems[-1]} {cure}") from problems[-1]
    return None


class _ErrorKeepingFile(io.RawIOBase):
    """A file that remembers why it could not be written: torch only tells that it could not."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.error: BaseException | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        # A second Ctrl-C, too.
        except BaseException as error:
            self.error = error
            raise
        return size
