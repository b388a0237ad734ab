"""The names of classes: which can be used, and which take part."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leocod.errors import InvalidData, UnknownName
from leocod.text import one_line, shorten

CONTROL = {"Cc", "Cs", "Zl", "Zp"}
"""Kinds of characters that would break a line, a terminal or a file: a class name stands in all of these."""


MOST = 20_000
"""Classes of the longest list, half as many again as the largest published one. Each costs a detector weights."""

LONGEST = 200
"""Characters of a name."""


def why_unfit(name: str) -> str | None:
    """Why a class cannot be called that; None when it can."""
    if len(name) > LONGEST:
        return f"its name has {len(name)} characters: at most {LONGEST} are read. Give it a shorter one."
    if any(unicodedata.category(one) in CONTROL for one in name):
        return "its name has a control character, or half of one that takes two. Give it a name that can be shown."
    return None


def why_no_list(names: Sequence[str]) -> str | None:
    """Why these names cannot be the classes that take part; None when they can."""
    if not names:
        return "at least one name is needed, or null for all classes"
    if len(names) > MOST:
        return f"{len(names)} names: at most {MOST} can take part"
    met: set[str] = set()
    for name in names:
        if name in met:
            return f"{shorten(name)} is named twice"
        if wrong := why_unfit(name):
            return f"{shorten(name)}: {wrong}"
        met.add(name)
    return None


def refuse_unfit(names: Sequence[str], file: Path) -> None:
    """Raise unless every name can be a class's; the file is where they stand."""
    for name in names:
        if wrong := why_unfit(name):
            raise InvalidData(f"{one_line(file)}, class {shorten(name)}: {wrong}")


def class_list(names: Sequence[str], chosen: Sequence[str] | None, file: Path, key: str) -> tuple[str, ...]:
    """The classes that take part, in order: all that the file has, or the chosen ones. `key`: where it names them."""
    if not names:
        raise InvalidData(f"{one_line(file)} names no classes. It should have them {key}.")
    if len(names) > MOST:
        raise InvalidData(f"{one_line(file)} names {len(names)} classes: at most {MOST} are read. Leave some out.")
    refuse_unfit(names, file)
    for name in chosen or ():
        if name not in names:
            raise UnknownName(f"class in {one_line(file)}", name, names)
    return tuple(names if chosen is None else chosen)


def class_numbers(names: Mapping[Any, str], classes: Sequence[str]) -> dict[Any, int | None]:
    """What a file calls a class -> position in the class list; None for one that takes no part."""
    places = {name: number for number, name in enumerate(classes)}
    return {id: places.get(name) for id, name in names.items()}
