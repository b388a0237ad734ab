"""Turn a validation error into one line: the key, the wrong value, what is allowed, the nearest key."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from reprlib import Repr
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from leocod.errors import InvalidConfig
from leocod.settings import Settings
from leocod.text import one_line

BOUNDS = {"ge": "at least {}", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}

LONGEST = 60
"""Characters of a key or a value in a message."""

SHORT = Repr()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = 2 * LONGEST


def explain(error: ValidationError, kind: type[BaseModel], prefix: str = "") -> InvalidConfig:
    """Make an error about the first mistake that says how many more there are."""
    first, *others = error.errors()
    keys = [str(key) for key in first["loc"]]
    full_key = ".".join(one_line(key, LONGEST) for key in ([prefix, *keys] if prefix else keys))
    more = f" ({len(others)} more like this.)" if others else ""
    # A key that is not a text is unknown, too.
    if first["type"] in {"extra_forbidden", "invalid_key"}:
        return InvalidConfig(f"{full_key}: unknown key.{_suggest_key(kind, keys, prefix)}{more}")
    if first["type"] == "missing":
        return InvalidConfig(f"{full_key}: needed, but not given.{more}")
    message = one_line(str(first["msg"]).removeprefix("Value error, ").rstrip("."))
    if first["type"] == "value_error" and not message.startswith("Input should"):
        return InvalidConfig(f"{full_key}: {message}.{more}" if full_key else f"{message}.{more}")
    return InvalidConfig(
        f"{full_key} is {_show_value(first['input'])}: it should be {_describe_allowed(first, kind, keys)}.{more}"
    )


def _suggest_key(kind: type[BaseModel], keys: Sequence[str], prefix: str) -> str:
    owner = _find_model(kind, keys[:-1])
    if owner and not prefix and (deeper := _find_deeper(owner, keys)):
        return f" Did you mean {' or '.join(deeper)}?"
    known = sorted([*owner.model_fields, *(["name"] if prefix and len(keys) == 1 else [])]) if owner else []
    near = get_close_matches(keys[-1], known, n=1, cutoff=0.5)
    return f" Did you mean '{near[0]}'?" if near else f" Known: {', '.join(known) or 'none'}."


def _find_deeper(owner: type[BaseModel], keys: Sequence[str]) -> list[str]:
    """The same key one level deeper, in each section that has it."""
    sections = {
        name: inner
        for name, field in owner.model_fields.items()
        for inner in _list_types(field.annotation)
        # A list of settings has places, and no keys.
        if get_origin(field.annotation) is not tuple and isinstance(inner, type) and issubclass(inner, Settings)
    }
    path, key = keys[:-1], keys[-1]
    return [f"'{'.'.join([*path, name, key])}'" for name, inner in sections.items() if inner.has_option(key)]


def _describe_allowed(first: Any, kind: type[BaseModel], keys: Sequence[str]) -> str:
    owner = _find_model(kind, keys[:-1])
    field = owner.model_fields.get(keys[-1]) if owner and keys else None
    rule = (
        str(first["msg"]).removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("Input should ")
    )
    if first["type"] in {"model_type", "model_attributes_type"}:
        return "a mapping of options" + (", or null" if field and type(None) in _list_types(field.annotation) else "")
    named_bound = first["type"].startswith(("greater_than", "less_than"))
    return _describe_range(field) if field and named_bound else rule.rstrip(".")


def _show_value(value: Any) -> str:
    """Show a value about as it stands in YAML, and not too long."""
    words = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    try:
        # Not repr: a value may be very large, or contain itself.
        return one_line(SHORT.repr(value), LONGEST)
    except ValueError:
        return "a number of very many digits"


def _describe_range(field: FieldInfo) -> str:
    """Describe the whole range, not only the bound that was crossed."""
    bounds = [
        words.format(getattr(rule, name))
        for rule in field.metadata
        for name, words in BOUNDS.items()
        if hasattr(rule, name)
    ]
    return " and ".join(bounds)


def _find_model(kind: type[BaseModel], keys: Sequence[str]) -> type[BaseModel] | None:
    """Return the settings that a path of keys leads to."""
    for key in keys:
        # The place in a list of settings.
        if key.isdecimal():
            continue
        field = kind.model_fields.get(key)
        types = _list_types(field.annotation) if field else []
        models = [inner for inner in types if isinstance(inner, type) and issubclass(inner, BaseModel)]
        if not models:
            return None
        kind = models[0]
    return kind


def _list_types(annotation: Any) -> list[Any]:
    return [annotation, *get_args(annotation)]
