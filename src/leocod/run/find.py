"""A name in the YAML is a file name in the tree: name -> class. No registry, no list to maintain."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from leocod.errors import InvalidConfig, UnknownName
from leocod.settings import Settings
from leocod.text import one_line

Folder = Literal["benchmarks", "detectors", "strategies"]
KINDS: dict[Folder, str] = {"benchmarks": "benchmark", "detectors": "detector", "strategies": "strategy"}

ANSWERS: dict[Folder, tuple[str, str]] = {
    "benchmarks": ("frames_of", "test"),
    "detectors": ("loss", "predict"),
    "strategies": ("learn", "predict"),
}
"""By which a class of each kind is known."""

LONGEST = 200
"""Characters of a name; module:Class of a package within packages has fewer."""


def list_names(folder: Folder) -> list[str]:
    """What can be chosen: the files of the folder. Imports none of them.

    >>> "icarl" in names("strategies")
    True
    """
    files = (Path(__file__).parents[1] / folder).glob("*.py")
    return sorted(file.stem for file in files if file.stem not in {"__init__", "base"})


def find_class(folder: Folder, name: str) -> type[Any]:
    """The class behind a name.

    A plain name is the one class with `Options` in the file of that name; `module:Class` is exactly that class,
    wherever it lives, and its module is imported.
    """
    if len(name) > LONGEST or not name.isprintable():
        raise InvalidConfig(f"'{one_line(name[:LONGEST])}' cannot be the name of a {KINDS[folder]}. See `leocod list`.")
    if ":" in name:
        return _elsewhere(folder, name)
    if name not in list_names(folder):
        raise UnknownName(KINDS[folder], name, list_names(folder))
    module = import_module(f"leocod.{folder}.{name}")
    classes = (one for _, one in inspect.getmembers(module, inspect.isclass))
    found = [one for one in classes if one.__module__ == module.__name__ and _has_options(one)]
    if len(found) != 1:
        raise InvalidConfig(f"{module.__name__} must define one class with Options; it defines {len(found)}.")
    return found[0]


def _elsewhere(folder: Folder, name: str) -> type[Any]:
    module_name, _, class_name = name.partition(":")
    # Before anything is imported for the sake of a name that leads nowhere.
    if not class_name.isidentifier():
        raise InvalidConfig(f"'{name}' is not module:Class, such as my_module:My{KINDS[folder].capitalize()}.")
    if not _exists(module_name):
        raise InvalidConfig(
            f"No module '{module_name}' (for the {KINDS[folder]} '{name}'). Is it installed or on PYTHONPATH?"
        )
    module = import_module(module_name)
    known = {key: one for key, one in inspect.getmembers(module, inspect.isclass) if _has_options(one)}
    if class_name not in known:
        raise UnknownName(f"class with Options in module {module_name}", class_name, known)
    found: type[Any] = known[class_name]
    if missing := [answer for answer in ANSWERS[folder] if not hasattr(found, answer)]:
        raise InvalidConfig(f"'{name}' is no {KINDS[folder]}: it has no `{missing[0]}`.")
    return found


def _exists(module_name: str) -> bool:
    """Asked beforehand, so that an import error inside the module is shown as what it is."""
    if not all(word.isidentifier() for word in module_name.split(".")):
        return False
    try:
        return find_spec(module_name) is not None
    except (ModuleNotFoundError, ValueError):
        return False


def _has_options(one: type[Any]) -> bool:
    """Whether a class names its options."""
    options = getattr(one, "Options", None)
    return inspect.isclass(options) and issubclass(options, Settings)
