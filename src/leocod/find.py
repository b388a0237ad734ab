"""A name in the YAML is a file name in the tree: name -> class. No registry, no list to maintain."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from leocod.errors import InvalidConfig, UnknownName
from leocod.settings import Settings

Folder = Literal["benchmarks", "detectors", "strategies"]
KINDS: dict[Folder, str] = {"benchmarks": "benchmark", "detectors": "detector", "strategies": "strategy"}


def names(folder: Folder) -> list[str]:
    """What can be chosen: the files of the folder. Imports none of them.

    >>> "icarl" in names("strategies")
    True
    """
    files = (Path(__file__).parent / folder).glob("*.py")
    return sorted(file.stem for file in files if file.stem not in {"__init__", "base"})


def part(folder: Folder, name: str) -> type[Any]:
    """The class behind a name.

    A plain name is the one class with `Options` in the file of that name; `module:Class` is exactly that class,
    wherever it lives.
    """
    if ":" in name:
        return _elsewhere(folder, name)
    if name not in names(folder):
        raise UnknownName(KINDS[folder], name, names(folder))
    module = import_module(f"leocod.{folder}.{name}")
    found = [one for one in _classes(module) if one.__module__ == module.__name__]
    if len(found) != 1:
        raise InvalidConfig(f"{module.__name__} must define one class with Options; it defines {len(found)}.")
    return found[0]


def _elsewhere(folder: Folder, name: str) -> type[Any]:
    module_name, _, class_name = name.partition(":")
    if not _exists(module_name):
        raise InvalidConfig(
            f"No module '{module_name}' (for the {KINDS[folder]} '{name}'). Is it installed or on PYTHONPATH?"
        )
    module = import_module(module_name)
    known = [one.__name__ for one in _classes(module)]
    if class_name not in known:
        raise UnknownName(f"class with Options in module {module_name}", class_name, known)
    found: type[Any] = getattr(module, class_name)
    return found


def _exists(module_name: str) -> bool:
    """Asked beforehand, so that an import error inside the module is shown as what it is."""
    try:
        return find_spec(module_name) is not None
    except (ModuleNotFoundError, ValueError):
        return False


def _classes(module: ModuleType) -> list[type[Any]]:
    """Classes that name their options; not the options themselves."""
    return [
        one
        for _, one in inspect.getmembers(module, inspect.isclass)
        if inspect.isclass(options := getattr(one, "Options", None)) and issubclass(options, Settings)
    ]
