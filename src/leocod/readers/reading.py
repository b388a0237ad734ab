"""Text files of a data set: JSON and CSV, read whole, with one line that says what is wrong with one."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from leocod.errors import InvalidData
from leocod.files.images import explain_absence
from leocod.text import one_line

LARGEST = 2 * 1024**3
"""Bytes of the largest file that is read: ten times the largest published one of its kind."""


def read_json(path: Path, *, largest: int = LARGEST) -> Any:
    """What is in a JSON file. NaN and Infinity, which are not JSON, are let through: who uses the value complains."""
    text = read_text(path, largest=largest)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InvalidData(f"{one_line(path)}: brackets within brackets, too deep to read. Write it anew.") from error
    except ValueError as error:
        what = f"is not readable JSON ({error}). Is it whole? Copy or write it anew."
        raise InvalidData(f"{one_line(path)} {what}") from error


def read_rows(path: Path, columns: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """The line and these columns, in this order, of each row of a CSV file with a header.

    Other columns are passed over, and so are empty lines.
    """
    reader = csv.reader(io.StringIO(read_text(path), newline=""))
    rows: list[tuple[int, list[str]]] = []
    try:
        header = next(reader, [])
        before = reader.line_num
        for row in reader:
            # A value in quotes may go over several lines: the first of them is named.
            rows.append((before + 1, row))
            before = reader.line_num
    except csv.Error as error:
        raise InvalidData(f"{one_line(path)} is not readable CSV ({error}). Write it anew.") from error
    if missing := [name for name in columns if name not in header]:
        there = one_line(", ".join(header) or "none", 200)
        raise InvalidData(f"{one_line(path)} has no column '{missing[0]}'. It has {there}.")
    places = [header.index(name) for name in columns]
    found = []
    for number, row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise InvalidData(f"{one_line(path)}, line {number}: {len(row)} values, but {len(header)} columns.")
        found.append((number, tuple(row[place] for place in places)))
    return found


def read_text(path: Path, *, largest: int = LARGEST) -> str:
    """All of a text file, in UTF-8."""
    if absent := explain_absence(path):
        raise InvalidData(f"{one_line(path)}: {absent}. Check the name, or copy the file again.")
    try:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size > largest:
                raise InvalidData(f"{one_line(path)} has {size} bytes: at most {largest} are read. Divide it.")
            return file.readall().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{one_line(path)} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise InvalidData(f"{one_line(path)} cannot be read ({error.strerror}). May you read it?") from error
