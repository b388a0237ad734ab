"""Documents that anyone may have written: YAML, JSON and CSV. Each is read, or refused in one line; none is run."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from leocod.errors import InvalidConfig, InvalidData, InvalidRun, LeocodError
from leocod.files.paths import NO_FILE, explain_absence
from leocod.files.strict_yaml import DEEPEST as DEEPEST
from leocod.files.strict_yaml import StrictLoader
from leocod.text import one_line

LARGEST = 1_000_000
"""Bytes of the largest config; most have a few thousand."""

BLOCK = 2**20
"""Bytes that are read at a time."""


@dataclass(frozen=True)
class Documents:
    """Documents of one kind, such as those of a data set: their limits, and what an error says about a bad one."""

    error: type[LeocodError]
    missing: str
    """The message about a file that is not there; {} is the file."""
    cure: str
    """What to do about a damaged file."""
    largest: int
    """Bytes of the largest file that is read, unless a call has a limit of its own."""
    may_be_empty: bool = False
    """Whether a file may be empty, or a pipe: a config may be both."""

    def make_error(self, file: Path, what: object, cure: str = "") -> LeocodError:
        """The error that names a file, what is wrong with it, and the cure."""
        return self.error(f"{one_line(file)} cannot be read ({one_line(what, 300)}). {cure or self.cure}")

    def read_text(self, file: Path, *, largest: int | None = None) -> str:
        """All of a text file in UTF-8."""
        most, content = largest or self.largest, bytearray()
        with self._open(file) as opened:
            is_large = os.fstat(opened.fileno()).st_size > most
            # A pipe does not know its size.
            while not is_large and (block := self._read(opened, BLOCK, file)):
                content += block
                is_large = len(content) > most
        if is_large:
            raise self.error(f"{one_line(file)} has more than {most} bytes. Make it smaller.")
        try:
            return _decode(content)
        except ValueError as error:
            raise self.make_error(file, error) from error

    def read_json(self, file: Path, *, largest: int | None = None) -> Any:
        """The value in a JSON file."""
        text = self.read_text(file, largest=largest)
        try:
            return parse_json(text)
        except ValueError as error:
            raise self.make_error(file, error) from error

    def read_json_lines(self, file: Path, *, largest: int, longest: int) -> Iterator[tuple[int, Any]]:
        """The number and the value of each line of JSON; a file that ends in .gz is unpacked.

        `largest` limits the bytes of the unpacked file, `longest` those of a line. A last line without a line break
        is what a killed process leaves: it is passed over if it cannot be read.
        """
        is_packed = file.suffix == ".gz"
        with self._open(file) as raw, gzip.GzipFile(fileobj=raw) if is_packed else raw as opened:
            number = size = 0
            while line := self._read(opened, longest + 1, file, whole_line=True):
                number, size = number + 1, size + len(line)
                if len(line) > longest or size > largest:
                    most = longest if len(line) > longest else largest
                    raise self.make_error(file, f"line {number}: more than {most} bytes")
                if not line.strip():
                    continue
                try:
                    value = parse_json(_decode(line.rstrip(b"\n"), line=number), line=number)
                except ValueError as error:
                    if not line.endswith(b"\n"):
                        return
                    raise self.make_error(file, error) from error
                yield number, value

    def read_csv(self, file: Path, columns: Sequence[str]) -> list[tuple[int, tuple[str, ...]]]:
        """The line and these columns, in this order, of each row of a CSV file with a header.

        Other columns and empty lines are passed over.
        """
        reader = csv.reader(io.StringIO(self.read_text(file), newline=""))
        rows: list[tuple[int, list[str]]] = []
        try:
            header = next(reader, [])
            last = reader.line_num
            for row in reader:
                # A quoted value may span several lines: the row is called by the first of them.
                rows.append((last + 1, row))
                last = reader.line_num
        except csv.Error as error:
            raise self.make_error(file, error) from error
        if missing := [name for name in columns if name not in header]:
            there = one_line(", ".join(header) or "none", 200)
            raise self.error(f"{one_line(file)} has no column '{missing[0]}'. It has {there}.")
        for line, row in rows:
            if row and len(row) != len(header):
                raise self.error(f"{one_line(file)}, line {line}: {len(row)} values, but {len(header)} columns.")
        places = [header.index(name) for name in columns]
        return [(line, tuple(row[place] for place in places)) for line, row in rows if row]

    def _open(self, file: Path) -> BinaryIO:
        absence = explain_absence(file)
        if absence == NO_FILE:
            raise self.error(self.missing.format(one_line(file)))
        if absence and not self.may_be_empty:
            raise self.make_error(file, absence)
        try:
            return file.open("rb")
        except PermissionError as error:
            raise self.make_error(file, error.strerror, "Check read permission.") from error
        # A NUL in the name is a ValueError.
        except (OSError, ValueError) as error:
            raise self.make_error(file, getattr(error, "strerror", None) or error) from error

    def _read(self, opened: BinaryIO | gzip.GzipFile, most: int, file: Path, *, whole_line: bool = False) -> bytes:
        try:
            return opened.readline(most) if whole_line else opened.read(most)
        except (OSError, EOFError, zlib.error) as error:
            raise self.make_error(file, getattr(error, "strerror", None) or error) from error


CONFIG = Documents(
    InvalidConfig,
    missing="No config file '{}'.",
    cure="A config is a text file in UTF-8.",
    largest=LARGEST,
    may_be_empty=True,
)
"""Config files. They may come from a pipe."""

DATA = Documents(
    InvalidData,
    missing="{}: no such file. Check the name, or copy the file again.",
    cure="It should be whole, and in UTF-8: copy or write it again.",
    largest=2 * 1024**3,
)
"""Files of a data set. The limit is ten times the largest published one."""

RUN = Documents(
    InvalidRun,
    missing="{} is missing. Give the directory of a run that has finished; some files are written at its end.",
    cure="Restore it from a backup, or run again into a new directory.",
    largest=256 * 2**20,
)
"""Files of a run directory. The limit is four times the results of a million steps."""


def read_yaml(file: Path) -> dict[str, Any]:
    """The keys and values of a YAML file; none for an empty file."""
    return parse_mapping(CONFIG.read_text(file), one_line(file))


def parse_mapping(text: str, source: str) -> dict[str, Any]:
    """The keys and values of a YAML text; `source` is what an error calls the text."""
    try:
        content = parse_yaml(text)
    except InvalidConfig as error:
        raise InvalidConfig(f"{source} is not valid YAML: {error}.") from error
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise InvalidConfig(f"{source} must hold keys with values, such as 'seed: 0'.")
    return content


def parse_yaml(text: str) -> Any:
    """The value of a YAML text. An InvalidConfig says in which line it is wrong, and why."""
    try:
        return yaml.load(text, StrictLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = one_line(getattr(error, "problem", None) or str(error).splitlines()[0])[:200]
        raise InvalidConfig(f"line {mark.line + 1}: {problem}" if mark else problem) from error
    # An escape such as "\\Uffffffff", or a version of YAML with thousands of digits.
    except (ValueError, OverflowError) as error:
        raise InvalidConfig("a character or a version that does not exist") from error


def parse_json(text: str, *, line: int | None = None) -> Any:
    """The value of a JSON text. A ValueError says where it is wrong, and why.

    `line` is the number of the text's first line in its file. NaN and Infinity, which are not JSON, are accepted:
    whoever uses the value checks it. No two keys of an object may be the same.
    """
    try:
        value = json.loads(text, object_pairs_hook=_make_object)
        _check_depth(value)
        return value
    except json.JSONDecodeError as error:
        number = error.lineno + (line or 1) - 1
        raise ValueError(f"line {number}, column {error.colno}: {error.msg}") from error
    except RecursionError:
        problem = f"more than {DEEPEST} levels within one another"
    except KeyError as error:
        problem = f"the key {error} is there twice in an object"
    except ValueError:
        problem = f"a number of more than {sys.get_int_max_str_digits()} digits"
    raise ValueError(f"{_format_place(line)}{problem}")


def _decode(content: bytes | bytearray, *, line: int | None = None) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{_format_place(line)}byte {error.start} is not UTF-8") from error


def _format_place(line: int | None) -> str:
    return "" if line is None else f"line {line}: "


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of JSON. A KeyError names a key that is there twice."""
    content = dict(pairs)
    if len(content) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise KeyError(key)
    return content


def _check_depth(value: Any) -> None:
    """Raise a RecursionError if lists and objects are nested too deeply for those who go through them."""
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(DEEPEST):
        # By type, which is the quickest test: a data set has millions of values.
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    if level:
        raise RecursionError
