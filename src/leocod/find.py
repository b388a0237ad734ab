"""A name in a config is a file name in the tree: name -> class. There is no registry and no list to maintain."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from leocod.errors import InvalidConfig, UnknownName
from leocod.settings import Settings
from leocod.text import one_line

Part = TypeVar("Part")

LONGEST = 200
"""Characters of a name; module:Class of a package within packages has fewer."""


@dataclass(frozen=True)
class Kind(Generic[Part]):
    """One kind of part that is chosen by name. The package's `base.py` declares it.

    A plain name stands for the file of that name in the package, `module:Class` for a class anywhere else.
    """

    name: str
    """As messages say it: strategy."""
    package: str
    """Where its files are: leocod.strategies."""
    methods: tuple[str, ...]
    """What a class of this kind must have."""
    has_options: bool = True
    """Whether each class has `Options`, a Settings class."""

    def names(self) -> list[str]:
        """What can be chosen: the files of the package but `base.py` and `base_*.py`. Imports none of them.

        >>> "icarl" in Kind("strategy", "leocod.strategies", ("learn",)).names()
        True
        """
        folder = Path(__file__).parents[1].joinpath(*self.package.split("."))
        names = (file.stem for file in folder.glob("*.py"))
        return sorted(name for name in names if name != "base" and not name.startswith(("__", "base_")))

    def find(self, name: str) -> type[Part]:
        """The class behind a name. The module of a `module:Class` is imported."""
        if len(name) > LONGEST or not name.isprintable():
            raise InvalidConfig(f"'{one_line(name[:LONGEST])}' cannot be the name of a {self.name}. See `leocod list`.")
        if ":" in name:
            return self._find_elsewhere(name)
        if name not in self.names():
            raise UnknownName(self.name, name, self.names())
        module = import_module(f"{self.package}.{name}")
        classes = [one for one in _classes(module) if one.__module__ == module.__name__ and self._fits(one)]
        if len(classes) != 1:
            wanted = "class with Options" if self.has_options else "class"
            raise InvalidConfig(f"{module.__name__} must define one {wanted} for a {self.name}: {len(classes)} found.")
        return classes[0]

    def _find_elsewhere(self, name: str) -> type[Part]:
        module_name, _, class_name = name.partition(":")
        # Checked first, so that nothing is imported for a name that leads nowhere.
        if not class_name.isidentifier():
            example = self.name.title().replace(" ", "").replace("-", "")
            raise InvalidConfig(f"'{name}' is not module:Class, such as my_module:My{example}.")
        if not _exists(module_name):
            here = Path(f"{module_name.replace('.', '/')}.py").is_file()
            cure = "It is in this folder: set PYTHONPATH=." if here else "Is it installed or on PYTHONPATH?"
            raise InvalidConfig(f"No module '{module_name}' (for the {self.name} '{name}'). {cure}")
        module = import_module(module_name)
        known = {one.__name__: one for one in _classes(module) if _has_options(one) or not self.has_options}
        if class_name not in known:
            wanted = "class with Options" if self.has_options else "class"
            raise UnknownName(f"{wanted} in module {module_name}", class_name, known)
        if missing := [method for method in self.methods if not hasattr(known[class_name], method)]:
            raise InvalidConfig(f"'{name}' is not a {self.name}: it has no `{missing[0]}`.")
        return known[class_name]

    def _fits(self, one: type[Any]) -> bool:
        if self.has_options:
            return _has_options(one)
        return all(hasattr(one, method) for method in self.methods)


def _classes(module: Any) -> list[type[Any]]:
    return [one for _, one in inspect.getmembers(module, inspect.isclass)]


def _exists(module_name: str) -> bool:
    """Asked before the import, so that an import error inside the module is shown as what it is."""
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
