"""Words for messages: one line, counted things, values cut short, names in natural order."""

from __future__ import annotations

import re
from pathlib import Path


def one_line(text: object, most: int | None = None) -> str:
    """A text in a message, such as a path: control characters and what no terminal can show are written out.

    `most` characters of it, where it is not known to be short.

    >>> one_line("a\\nb"), one_line("abcdefgh", 6)
    ('a\\\\nb', 'abc...')
    """
    plain = str(text)
    if most is not None and len(plain) > most:
        plain = f"{plain[: most - 3]}..."
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in plain)


def strip_file_name(file: Path, error: Exception) -> str:
    """What an error says of a file, for a message that has named the file already."""
    text, name = str(error), one_line(file)
    for start, instead in ((f"{name}: ", ""), (f"{name} ", "it ")):
        if text.startswith(start):
            return f"{instead}{text.removeprefix(start)}"
    return text


def shorten(value: object) -> str:
    """A value in a message: short, in one line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def pluralize(number: int, thing: str, things: str = "") -> str:
    """A number of things, in words.

    >>> counted(1, "frame"), counted(2, "class", "classes")
    ('1 frame', '2 classes')
    """
    return f"{number} {thing if number == 1 else things or f'{thing}s'}"


def natural_key(name: str) -> tuple[tuple[str, int, str], ...]:
    """A key that sorts names as people do: numbers in them by value.

    >>> sorted(["b10.jpg", "b9.jpg", "a.jpg"], key=natural)
    ['a.jpg', 'b9.jpg', 'b10.jpg']
    """
    # Numbers are compared by length, then digit by digit: a name may hold more digits than Python turns into an int.
    parts = re.split(r"([0-9]+)", name)
    digits = [part.lstrip("0") for part in parts[1::2]] + [""]
    return tuple((text, len(number), number) for text, number in zip(parts[::2], digits, strict=True))
