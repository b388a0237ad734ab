"""The names of classes: which can be used, and which take part."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leocod.errors import InvalidData, UnknownName
from leocod.text import one_line, shorten

CONTROL = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories of characters that break a line, a terminal or a file."""

MOST = 20_000
"""Classes of the longest list; the largest published one has two thirds of that. Each costs a detector weights."""

LONGEST = 200
"""Characters of a name."""

EMPTY = "its name is empty. Give it a name."


def explain_bad_name(name: str) -> str | None:
    """Say why a class cannot have this name; None when it can."""
    if len(name) > LONGEST:
        return f"its name has {len(name)} characters: at most {LONGEST} are read. Give it a shorter one."
    if any(unicodedata.category(letter) in CONTROL for letter in name):
        return "its name has a control character, or half of one that takes two. Give it a name that can be shown."
    if not name.strip():
        return EMPTY
    return None


def explain_bad_list(names: Sequence[str]) -> str | None:
    """Say why these names cannot be the list of classes; None when they can."""
    if not names:
        return "at least one name is needed, or null for all classes"
    if len(names) > MOST:
        return f"{len(names)} names: at most {MOST} can take part"
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return f"{shorten(name)} is named twice"
        if problem := explain_bad_name(name):
            return f"{shorten(name)}: {problem}"
        seen.add(name)
    return None


def check_names(names: Sequence[str], file: Path | str) -> None:
    """Raise unless each name can be that of a class; `file` is where they stand."""
    for name in names:
        if problem := explain_bad_name(name):
            raise InvalidData(f"{one_line(file)}, class {shorten(name)}: {problem}")


def choose_classes(names: Sequence[str], chosen: Sequence[str] | None, file: Path | str, key: str) -> tuple[str, ...]:
    """Return the classes that take part, in order: the chosen ones, or all in the file.

    `file` is the file, or what an error calls several files; `key` says where it names classes.
    """
    if not names:
        raise InvalidData(f"{one_line(file)} names no classes. It should have them {key}.")
    if len(names) > MOST:
        raise InvalidData(f"{one_line(file)} names {len(names)} classes: at most {MOST} are read. Leave some out.")
    check_names(names, file)
    for name in chosen or ():
        if name not in names:
            raise UnknownName(f"class in {one_line(file)}", name, names)
    return tuple(names if chosen is None else chosen)


def number_classes(names: Mapping[Any, str], classes: Sequence[str]) -> dict[Any, int | None]:
    """Map what a file calls a class to its position in the class list; None for one that takes no part."""
    places = {name: number for number, name in enumerate(classes)}
    return {id: places.get(name) for id, name in names.items()}
