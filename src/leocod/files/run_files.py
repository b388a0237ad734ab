"""Files of a run directory that a stranger may have sent: nothing leads out of it, and every text can be shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leocod.errors import LeocodError
from leocod.files.documents import RUN
from leocod.files.paths import is_inside

UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
"""Characters that XML or UTF-8 cannot hold, that break a line, or that change the direction of the text around them."""


def make_damage_error(file: Path, what: str) -> LeocodError:
    """The error that names a file of a run, what is wrong with it, and the cure."""
    return RUN.make_error(file, what)


def read_text(file: Path, home: Path, *, largest: int) -> str:
    """All of a text file in the directory `home`. Line breaks and tabs stay; what cannot be shown is escaped."""
    _check_inside(file, home)
    return make_legible(RUN.read_text(file, largest=largest).replace("\r\n", "\n"), keep="\n\t")


def read_json(file: Path, home: Path, *, largest: int) -> Any:
    """The value in a JSON file in the directory `home`; what cannot be shown in its texts is escaped."""
    _check_inside(file, home)
    return _make_value_legible(RUN.read_json(file, largest=largest))


def read_lines(file: Path, home: Path, *, largest: int, longest: int) -> Iterator[tuple[int, Any]]:
    """The number and the value of each line of JSON, as `Documents.read_json_lines` reads them."""
    _check_inside(file, home)
    for number, value in RUN.read_json_lines(file, largest=largest, longest=longest):
        yield number, _make_value_legible(value)


def make_legible(text: str, *, keep: str = "") -> str:
    """The same text, with the characters that cannot be shown escaped, except those to `keep`.

    >>> make_legible("a\\0b")
    'a\\\\x00b'
    """
    return UNPRINTABLE.sub(lambda match: match[0] if match[0] in keep else repr(match[0])[1:-1], text)


def _check_inside(file: Path, home: Path) -> None:
    if not is_inside(file, home):
        raise make_damage_error(file, "it leads out of the run directory")


def _make_value_legible(value: Any) -> Any:
    if isinstance(value, str):
        return make_legible(value)
    if isinstance(value, list):
        return [_make_value_legible(item) for item in value]
    if isinstance(value, dict):
        return {make_legible(key): _make_value_legible(item) for key, item in value.items()}
    return value
