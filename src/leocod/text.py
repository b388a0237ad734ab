"""Text for messages: one printable line, counted things, short values; and names in natural order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


def one_line(text: object, most: int | None = None) -> str:
    """Make a text printable in one line: control characters and what no terminal can show are escaped.

    `most`: cut the text to this many characters.

    >>> one_line("a\\nb"), one_line("abcdefgh", 6)
    ('a\\\\nb', 'abc...')
    """
    plain = str(text)
    if most is not None and len(plain) > most:
        plain = f"{plain[: most - 3]}..."
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in plain)


def strip_file_name(file: Path, error: Exception) -> str:
    """Take the file out of an error message, for a message that has named the file already."""
    text, name = str(error), one_line(file)
    for start, instead in ((f"{name}: ", ""), (f"{name} ", "it ")):
        if text.startswith(start):
            return f"{instead}{text.removeprefix(start)}"
    return text


def shorten(value: object) -> str:
    """Show a value in a message, in one line of at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def pluralize(number: int, thing: str) -> str:
    """Count things in words.

    >>> pluralize(1, "frame"), pluralize(2, "class")
    ('1 frame', '2 classes')
    """
    ending = "es" if thing.endswith(("s", "x")) else "s"
    return f"{number} {thing if number == 1 else thing + ending}"


def list_some(names: Sequence[str], most: int) -> str:
    """List the first names, and count the rest.

    >>> list_some(["a", "b", "c", "d"], 2), list_some(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def natural_key(name: str) -> tuple[tuple[str, int, str], ...]:
    """Return a key that sorts names as people do: numbers in them by value.

    >>> sorted(["b10.jpg", "b9.jpg", "a.jpg"], key=natural_key)
    ['a.jpg', 'b9.jpg', 'b10.jpg']
    """
    # Numbers are compared by length, then digit by digit: a name may hold more digits than Python turns into an int.
    parts = re.split(r"([0-9]+)", name)
    digits = [part.lstrip("0") for part in parts[1::2]] + [""]
    return tuple((text, len(number), number) for text, number in zip(parts[::2], digits, strict=True))


def describe_plugin(*, ema: bool, pseudo_labels: bool, plus: bool = False) -> str:
    """Say in words whether a run has Efficient-CLS, all that Efficient-CLS+ adds to it, or which half of it.

    >>> describe_plugin(ema=True, pseudo_labels=False)
    'with EMA only'
    """
    if ema and pseudo_labels:
        return "with Efficient-CLS+" if plus else "with Efficient-CLS"
    return "with EMA only" if ema else "with pseudo labels only" if pseudo_labels else "without Efficient-CLS"
