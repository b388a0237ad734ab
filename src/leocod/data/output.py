"""A new folder to write to: it appears when it is complete, and nothing that is there is ever overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leocod.errors import InvalidConfig, InvalidData
from leocod.files.atomic import atomic_directory
from leocod.text import one_line


def refuse_existing(out: Path) -> None:
    """Raise unless nothing is there, or only an empty folder."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InvalidConfig(f"{out} is already there. Choose another folder, or remove it first.")


@contextmanager
def open_output(out: Path) -> Iterator[Path]:
    """Hand out the folder to write to. An error of the disk becomes one line."""
    refuse_existing(out)
    try:
        with atomic_directory(out) as folder:
            yield folder
    except OSError as error:
        raise InvalidData(f"{one_line(error.filename or out)}: {error.strerror or error}.") from error
