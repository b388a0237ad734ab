"""CSV files beside a table: written with a header, and read back with the line of a mistake."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from leocod.errors import InvalidConfig
from leocod.run.choices import validate
from leocod.settings import Settings
from leocod.text import one_line

Line = TypeVar("Line", bound=Settings)

LARGEST = 30_000_000
"""Bytes of the largest file that is read; a run has about 200, and about 80 for each of its classes."""


def format_csv(lines: Sequence[Mapping[str, Any]]) -> str:
    """Lines with the same keys as CSV with a header."""
    target = io.StringIO()
    writer = csv.DictWriter(target, list(lines[0]) if lines else ["run"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return target.getvalue()


def read_csv(file: Path) -> list[dict[str, Any]]:
    """The lines of a CSV file by the names of their columns; without empty cells."""
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InvalidConfig(f"{one_line(file)} has more than {LARGEST} bytes. Is it a file of runs?")
        lines = list(csv.DictReader(io.StringIO(content.decode("utf-8"))))
    except FileNotFoundError as error:
        raise InvalidConfig(f"No file of runs '{one_line(file)}'.") from error
    except (OSError, ValueError, csv.Error) as error:
        reason = one_line(getattr(error, "strerror", None) or error)
        raise InvalidConfig(f"{one_line(file)} cannot be read as CSV ({reason}).") from error
    return [{str(key): value for key, value in line.items() if value not in ("", None)} for line in lines]


def validate_line(kind: type[Line], values: Mapping[str, Any], file: Path, number: int) -> Line:
    """The content of a line; an error names the file and the line."""
    try:
        return validate(kind, values)
    except InvalidConfig as error:
        raise InvalidConfig(f"{one_line(file)}, line {number}: {error}") from error
