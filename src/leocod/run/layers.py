"""How the layers of a config combine, and how two configs differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from leocod.errors import InvalidConfig
from leocod.files.documents import DEEPEST, parse_yaml
from leocod.run.choices import CHOICES
from leocod.settings import list_leaves
from leocod.text import one_line


def overlay(base: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """A new mapping: `layer` wins, key by key. Another name for a choice drops the options of the choice before.

    >>> overlay({"strategy": {"name": "icarl", "replay_per_step": 8}}, {"strategy": "incremental"})
    {'strategy': {'name': 'incremental'}}
    >>> overlay({"labels": {"per_step": 2, "nested": True}}, {"labels": "fixed"})
    {'labels': {'per_step': 2, 'name': 'fixed'}}
    """
    result = dict(base)
    for key, value in layer.items():
        new, old = _expand(key, value), _expand(key, result.get(key))
        is_named = key in CHOICES and isinstance(new, Mapping) and "name" in new
        if is_named and _read_name(key, new) != _read_name(key, old):
            shared = CHOICES[key].shared
            kept = {name: option for name, option in old.items() if name in shared} if isinstance(old, Mapping) else {}
            result[key] = {**kept, **new}
        else:
            result[key] = _merge(old, new)
    return result


def parse_override(text: str) -> dict[str, Any]:
    """One `key=value` of the command line as a layer; the value is read as YAML.

    >>> parse_override("strategy.memory_per_class=10")
    {'strategy': {'memory_per_class': 10}}
    """
    key, equals, value = text.partition("=")
    names = key.strip().split(".")
    if not equals or not all(names) or len(names) > DEEPEST:
        raise InvalidConfig(
            f"'{one_line(text[:60])}' is not an override. Write it as key=value, for example labels.per_step=2."
        )
    try:
        layer: Any = parse_yaml(value)
    except InvalidConfig as error:
        override = one_line(f"{key[:60]}: '{value[:60]}'")
        raise InvalidConfig(f"{override} cannot be read as YAML ({error}).") from error
    for name in reversed(names):
        layer = {name: layer}
    return dict(layer)


NOT_THERE = "not there"
"""The value of a key that one of two configs does not have."""


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Every key in which two nested mappings differ, with both values as JSON."""
    first, second = dict(list_leaves(before)), dict(list_leaves(after))
    values = {key: (_to_json(first, key), _to_json(second, key)) for key in dict.fromkeys([*first, *second])}
    return {key: (old, new) for key, (old, new) in values.items() if old != new}


def _to_json(leaves: Mapping[str, Any], key: str) -> str:
    return json.dumps(leaves[key]) if key in leaves else NOT_THERE


def _merge(old: Any, new: Any) -> Any:
    """Key by key at any depth. Inside a choice, `name` is an option like any other."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    return {**old, **{key: _merge(old.get(key), value) for key, value in new.items()}}


def _expand(key: str, value: Any) -> Any:
    """A bare name stands for a mapping with that name."""
    return {"name": value} if key in CHOICES and isinstance(value, str) else value


def _read_name(key: str, value: Any) -> Any:
    return value.get("name", CHOICES[key].default) if isinstance(value, Mapping) else CHOICES[key].default
