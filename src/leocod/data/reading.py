"""Text files of a data set: JSON and CSV, read whole, with one line that says what is wrong with one."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any

from leocod.errors import InvalidData
from leocod.imagefile import why_absent

LARGEST = 2 * 1024**3
"""Bytes of the largest file that is read: ten times the largest published one of its kind."""


def read_json(path: Path, *, largest: int = LARGEST) -> Any:
    """What is in a JSON file. NaN and Infinity, which are not JSON, are let through: who uses the value complains."""
    text = read_text(path, largest=largest)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InvalidData(f"{path}: brackets within brackets, too deep to read. Write it anew.") from error
    except ValueError as error:
        raise InvalidData(f"{path} is not readable JSON ({error}). Is it whole? Copy or write it anew.") from error


def read_rows(path: Path, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    """These columns of a CSV file with a header, in this order, row by row. Other columns are passed over."""
    try:
        header, *rows = list(csv.reader(io.StringIO(read_text(path), newline=""))) or [[]]
    except csv.Error as error:
        raise InvalidData(f"{path} is not readable CSV ({error}). Write it anew.") from error
    if missing := [name for name in columns if name not in header]:
        raise InvalidData(f"{path} has no column '{missing[0]}'. It has {', '.join(header) or 'none'}.")
    places = [header.index(name) for name in columns]
    found = []
    for number, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise InvalidData(f"{path}, line {number}: {len(row)} values, but {len(header)} columns.")
        found.append(tuple(row[place] for place in places))
    return found


def read_text(path: Path, *, largest: int = LARGEST) -> str:
    """All of a text file, in UTF-8."""
    if absent := why_absent(path):
        raise InvalidData(f"{path}: {absent}.")
    try:
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size > largest:
                raise InvalidData(f"{path} is larger than {largest / 2**20:g} MB, the most that is read.")
            return file.readall().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise InvalidData(f"{path} cannot be read ({error.strerror}).") from error


def shown(value: object) -> str:
    """A value in a message: short, in one line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def natural(name: str) -> tuple[tuple[str, int, str], ...]:
    """A key that sorts names as people do: numbers in them by value.

    >>> sorted(["b10.jpg", "b9.jpg", "a.jpg"], key=natural)
    ['a.jpg', 'b9.jpg', 'b10.jpg']
    """
    # Numbers are compared by length, then digit by digit: a name may hold more digits than Python turns into an int.
    parts = re.split(r"([0-9]+)", name)
    digits = [part.lstrip("0") for part in parts[1::2]] + [""]
    return tuple((text, len(number), number) for text, number in zip(parts[::2], digits, strict=True))
