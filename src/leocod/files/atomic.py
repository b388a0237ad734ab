"""Atomic writes: a reader meets the old file or the new one, and never half of one."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

WINDOWS = os.name == "nt"

# Without it, Windows writes two bytes for the end of a line, and the lengths that are stored would be wrong.
BINARY = getattr(os, "O_BINARY", 0)

PATIENCE = 2.0
"""Seconds after which a file that another program holds open counts as held for good."""


@contextmanager
def atomic_write(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Hand out a temporary path beside the real one, and replace the real file by it at the end.

    On an error the real file stays as it was. `durable`: the new file survives a loss of power.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        if durable:
            sync(temporary)
        replace(temporary, path)
        if durable:
            sync(path.parent)
    except OSError as error:
        # The user knows the real name, not the temporary one.
        if error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise
    finally:
        # A failed clean-up must not hide the error that led to it.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def replace(source: Path, target: Path) -> None:
    """Give a file the name of another, which it replaces."""
    _wait_for_readers(lambda: source.replace(target))


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    _wait_for_readers(lambda: path.unlink(missing_ok=True))


def _wait_for_readers(change: Callable[[], object]) -> None:
    """Windows refuses a change while somebody reads the file: a report or a virus scanner. That is over soon."""
    deadline = time.monotonic() + (PATIENCE if WINDOWS else 0.0)
    while True:
        try:
            change()
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, has reached the disk."""
    if WINDOWS and path.is_dir():
        return
    # Windows writes out only what is open for writing.
    opened = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def open_to_append(path: Path, *, new: bool = False) -> int:
    """Open a file whose bytes `append` adds to. `new`: it must not be there yet."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY | (os.O_EXCL if new else 0), 0o666)


def append(file: int, data: bytes) -> None:
    """Append all of the data to an open file; on an error, nothing."""
    size = os.fstat(file).st_size
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:
        os.ftruncate(file, size)
        raise


@contextmanager
def atomic_directory(folder: Path) -> Iterator[Path]:
    """Hand out a temporary folder beside the real one, and give it the real name at the end.

    On an error nothing is left. The real folder may exist if it is empty.
    """
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        if folder.exists():
            folder.rmdir()
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Write the whole text, or nothing."""
    with atomic_write(path, durable=durable) as temporary:
        # The same bytes on every system.
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any, *, indent: int | None = None, durable: bool = True) -> None:
    """Write JSON that every reader accepts: NaN is an error."""
    write_text(path, json.dumps(value, indent=indent, allow_nan=False) + "\n", durable=durable)
