"""A plug-in by its name: in a layer of a config, `plugin: efficient_cls_plus` stands for the settings that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

from leocod.errors import InvalidConfig, UnknownName
from leocod.files.documents import parse_mapping
from leocod.run.layers import overlay
from leocod.settings import Settings
from leocod.strategies.base import STRATEGIES

PlugInName = Literal["none", "efficient_cls", "efficient_cls_plus"]
NAMES: tuple[PlugInName, ...] = get_args(PlugInName)


def lay(base: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """A new mapping: `layer` wins, and in it what is set besides the name of a plug-in.

    >>> lay({"efficient_cls": {"keep": 0.9}}, {"plugin": "none", "seed": 3})
    {'efficient_cls': None, 'seed': 3}
    """
    if "plugin" not in layer:
        return overlay(base, layer)
    name, rest = layer["plugin"], {key: value for key, value in layer.items() if key != "plugin"}
    if name not in NAMES:
        raise UnknownName("plug-in", str(name), NAMES)
    if bool(rest.get("efficient_cls", name != "none")) is (name == "none"):
        what = "has options" if name == "none" else "is null"
        raise InvalidConfig(f"plugin is {name}, but efficient_cls {what}: remove one of them.")
    whole = overlay(base, rest)
    return overlay(overlay(base, load_preset(name, whole.get("strategy", {}))), rest)


def load_preset(name: PlugInName, strategy: str | Mapping[str, Any]) -> dict[str, Any]:
    """What a plug-in sets around a strategy: only options that the strategy has."""
    if name != "efficient_cls_plus":
        return {"efficient_cls": None if name == "none" else {}}
    preset = _read_plus()
    chosen = strategy if isinstance(strategy, str) else strategy.get("name", "icarl")
    options: type[Settings] = STRATEGIES.find(chosen).Options
    known = {key: value for key, value in preset["strategy"].items() if key in options.model_fields}
    return {**preset, "strategy": {"name": chosen, **known}}


@cache
def _read_plus() -> Mapping[str, Any]:
    """Once: every run of a table is named by it."""
    file = files("leocod.plugins").joinpath("efficient_cls_plus.yaml")
    return MappingProxyType(parse_mapping(file.read_text(encoding="utf-8"), file.name))


def is_plus(efficient_cls: Settings, strategy: str, options: Settings) -> bool:
    """Whether these are the settings that Efficient-CLS+ makes, or more."""
    preset = load_preset("efficient_cls_plus", strategy)
    memory = {key: value for key, value in preset["strategy"].items() if key != "name"}
    wanted = ((preset["efficient_cls"], efficient_cls), (memory, options))
    return all(getattr(part, key) == value for settings, part in wanted for key, value in settings.items())
