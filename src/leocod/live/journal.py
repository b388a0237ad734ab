"""The journal of a live run: whatever a person did and whatever was learnt, one JSON object a line, never rewritten.

A line is on the disk before anybody is told that it was taken. All that is known of a run can be made again from its
journal, its frames and a checkpoint.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leocod.errors import InvalidRun
from leocod.files.atomic import append, open_to_append, sync
from leocod.text import one_line

Entry = dict[str, Any]
"""One line: `kind`, and what this kind has."""


class Journal:
    """Appends entries. An entry that `write` has returned from survives a crash and a loss of power."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.length = 0
        """Entries so far: the number of the next one."""
        self._open: int | None = None

    def read(self) -> Iterator[Entry]:
        """Every entry from the first on. A half-written last line is cut off: nobody was told that it was taken."""
        if not self.file.exists():
            return
        self.length = whole = 0
        # Line by line: after some months it is large.
        with self.file.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    os.truncate(self.file, whole)
                    return
                whole += len(line)
                self.length += 1
                yield self._parse(line)

    def write(self, entry: Entry) -> int:
        """Append an entry and wait until it has reached the disk. Returns its number."""
        if self._open is None:
            self._open = open_to_append(self.file)
            sync(self.file.parent)
        line = json.dumps(entry, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        before = os.fstat(self._open).st_size
        append(self._open, line)
        try:
            os.fsync(self._open)
        except OSError:
            # Nobody will be told that it was taken.
            os.ftruncate(self._open, before)
            raise
        self.length += 1
        return self.length - 1

    def close(self) -> None:
        """Let go of the file."""
        if self._open is not None:
            os.close(self._open)
            self._open = None

    def make_error(self, number: int, problem: str) -> InvalidRun:
        """An error that names an entry, for one that is not what leocod has written."""
        return InvalidRun(
            f"{one_line(self.file)}, line {number + 1}: {one_line(problem)}. Restore the file from a copy, or start a "
            "new run."
        )

    def _parse(self, line: bytes) -> Entry:
        try:
            entry = json.loads(line)
            if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
                raise ValueError("no entry with a kind")
        except (ValueError, RecursionError) as error:
            raise self.make_error(self.length - 1, str(error)) from error
        return entry
