"""Checkpoint files: written whole or not at all, and checked before anything in them is used.

A checkpoint is a file of torch.save, which is a zip archive. The archive's comment is the SHA-256 of all bytes before.
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
    """Save tensors and plain values. An OSError, such as of a full disk, leaves everything as it was."""
    with atomic_write(path) as temporary:
        with temporary.open("wb", buffering=0) as raw:
            file = _ErrorKeepingFile(raw)
            try:
                torch.save(dict(state), cast(BinaryIO, file))
            except RuntimeError as error:
                # Torch hides the error of the disk behind its own.
                raise file.error or error from None
        seal(temporary)


def seal(path: Path) -> None:
    """Append the checksum to an archive as its comment; the two bytes before are the comment's length."""
    with path.open("r+b") as file:
        file.seek(-2, os.SEEK_END)
        file.write(CHECKSUM.to_bytes(2, "little"))
        file.seek(0)
        file.write(_compute_checksum(file, path.stat().st_size))


def _compute_checksum(file: BinaryIO, size: int) -> bytes:
    """Compute the checksum of the next `size` bytes."""
    digest = hashlib.sha256()
    while block := file.read(min(size, 2**20)):
        digest.update(block)
        size -= len(block)
    return digest.hexdigest().encode()


def _check_seal(path: Path) -> None:
    """Raise unless each byte of a file is as it was sealed, and nothing in it is compressed."""
    with path.open("rb") as file:
        expected = _compute_checksum(file, max(path.stat().st_size - CHECKSUM, 0))
        if file.read() != expected:
            raise ValueError("its checksum is missing or does not fit: cut off, damaged, or not a checkpoint")
    with zipfile.ZipFile(path) as archive:
        # Torch does not compress. An attacker may: a few bytes become any number of bytes.
        if packed := [member.filename for member in archive.infolist() if member.compress_type != zipfile.ZIP_STORED]:
            raise ValueError(f"{packed[0]} is compressed")


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read tensors and plain values; nothing in the file is run. Damage is an InvalidRun."""
    try:
        _check_seal(path)
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise TypeError(f"a {type(state).__name__}, not a checkpoint")
    # The file may be whole, and only out of reach at the moment.
    except (MemoryError, OSError) as error:
        raise InvalidRun(f"{path} cannot be read ({error}).") from error
    # Damage, or forgery, ends in errors of many kinds in zipfile and torch.
    except Exception as error:
        raise make_damaged_error(path, error) from error
    return state


class Damaged(InvalidRun):
    """A checkpoint that is not as it was saved, or that does not fit."""


def make_damaged_error(path: Path, error: Exception) -> Damaged:
    """Make an error that says in one line what is wrong with a checkpoint."""
    first = one_line(str(error).splitlines()[0]) if str(error) else ""
    return Damaged(f"{path} cannot be loaded ({type(error).__name__}: {first[:200]}).")


def read_newest_checkpoint(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """Return the newest checkpoint that can be read, and its content; warn of later ones that cannot.

    None: there is no checkpoint. If there are some and none can be read, that is an error.
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
        cure = "No other checkpoint is left. To start again with the first step, remove that folder."
        raise InvalidRun(f"{problems[-1]} {cure}") from problems[-1]
    return None


class _ErrorKeepingFile(io.RawIOBase):
    """A file that keeps the error of a failed write: torch reports only that it failed."""

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
        # Also a second Ctrl-C.
        except BaseException as error:
            self.error = error
            raise
        return size
