"""Files of a run directory that anyone may have written: what they hold, fit to be shown, or one line about a fault."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from leocod.errors import InvalidRun
from leocod.files.images import explain_absence
from leocod.text import one_line

DEEPEST = 40
"""Lists and mappings within one another; a run's files have five or six."""

UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")
"""Characters that XML or UTF-8 cannot hold, that break a line, or that turn the order of what stands around them."""


def legible(text: str, *, keep: str = "") -> str:
    """The same text, with the characters that are not fit to be shown written out, but for those to `keep`.

    >>> legible("a\\0b")
    'a\\\\x00b'
    """
    return UNFIT.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def damaged(file: Path, what: str) -> InvalidRun:
    """The error that names a file and what is wrong with it."""
    cure = "Restore it from a backup, or run again into a new directory."
    return InvalidRun(f"{one_line(file)} cannot be read ({one_line(what)[:300]}). {cure}")


def read_text(file: Path, home: Path, *, largest: int) -> str:
    """All of a text file in the directory `home`; line by line, or tab by tab, as it was, the rest legible."""
    with _opened(file, home) as opened:
        content = opened.read(largest + 1)
    if len(content) > largest:
        raise damaged(file, f"more than {largest} bytes")
    return legible(_text(content, file, "").replace("\r\n", "\n"), keep="\n\t")


def read_json(file: Path, home: Path, *, largest: int) -> Any:
    """What a JSON file in the directory `home` holds; every text in it is legible."""
    with _opened(file, home) as opened:
        content = opened.read(largest + 1)
    if len(content) > largest:
        raise damaged(file, f"more than {largest} bytes")
    return _value(content, file, "")


def read_lines(file: Path, home: Path, *, largest: int, longest: int) -> Iterator[tuple[int, Any]]:
    """The number and the value of each line of JSON; the file may be packed.

    A last line without an end is what a killed run leaves. If it cannot be read, it is not there.
    """
    packed = file.suffix == ".gz"
    with _opened(file, home) as raw, gzip.GzipFile(fileobj=raw) if packed else raw as opened:
        number = read = 0
        while line := _line(opened, file, longest):
            number, read = number + 1, read + len(line)
            if len(line) > longest or read > largest:
                raise damaged(file, f"line {number}: more than {longest if len(line) > longest else largest} bytes")
            if not line.strip():
                continue
            try:
                value = _value(line, file, f"line {number}: ")
            except InvalidRun:
                if line.endswith(b"\n"):
                    raise
                return
            yield number, value


def _opened(file: Path, home: Path) -> BinaryIO:
    if not inside(file, home):
        raise damaged(file, "it leads out of the run directory")
    if absent := explain_absence(file):
        said = "is missing" if absent == "no such file" else f"cannot be read ({absent})"
        cure = "Give the directory of a run that has finished; some files are written at its end."
        raise InvalidRun(f"{one_line(file)} {said}. {cure}")
    try:
        return file.open("rb")
    except OSError as error:
        raise damaged(file, error.strerror or str(error)) from error


def inside(file: Path, home: Path) -> bool:
    """Whether a file, all links followed, lies in a directory."""
    try:
        return file.resolve().is_relative_to(home.resolve())
    # Links in a circle, or a name that no file can have.
    except (OSError, RuntimeError, ValueError):
        return False


def _line(opened: BinaryIO | gzip.GzipFile, file: Path, longest: int) -> bytes:
    try:
        return opened.readline(longest + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(file, str(error)) from error


def _text(content: bytes, file: Path, place: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(file, f"{place}byte {error.start} is not UTF-8") from error


def _value(content: bytes, file: Path, place: str) -> Any:
    text = _text(content, file, place)
    try:
        return _legible(json.loads(text), DEEPEST)
    except json.JSONDecodeError as error:
        raise damaged(file, f"{place or f'line {error.lineno}: '}{error.msg}") from error
    except RecursionError as error:
        raise damaged(file, f"{place}more than {DEEPEST} levels within one another") from error
    # A number of more digits than Python takes.
    except ValueError as error:
        raise damaged(file, f"{place}{error}") from error


def _legible(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return legible(value)
    if depth == 0 and isinstance(value, list | dict):
        raise RecursionError
    if isinstance(value, list):
        return [_legible(one, depth - 1) for one in value]
    if isinstance(value, dict):
        return {legible(key): _legible(one, depth - 1) for key, one in value.items()}
    return value
