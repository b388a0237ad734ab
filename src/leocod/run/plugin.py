"""A plug-in by its name: in a layer of a config, `plugin: efficient_cls_plus` stands for the settings that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

from leocod.errors import InvalidConfig, UnknownName
from leocod.files.documents import parse_mapping
from leocod.run.choices import CHOICES
from leocod.run.layers import overlay
from leocod.settings import Settings
from leocod.strategies.base import STRATEGIES

PlugInName = Literal["none", "efficient_cls", "efficient_cls_plus"]
NAMES: tuple[PlugInName, ...] = get_args(PlugInName)


def lay(base: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """A new mapping: `layer` wins, key by key. The name of a plug-in wins over what earlier layers set about it.

    The name is kept, and `expand` makes the settings of it: a later layer may choose another strategy or plug-in.

    >>> lay({"efficient_cls": {"keep": 0.9}}, {"plugin": "none", "seed": 3})
    {'plugin': 'none', 'seed': 3}
    """
    if "plugin" not in layer:
        # Efficient-CLS by itself, on or null, wins over a name in an earlier layer that says the opposite.
        is_off = base.get("plugin") == "none"
        if "plugin" in base and "efficient_cls" in layer and is_off is not (layer["efficient_cls"] is None):
            base = {key: value for key, value in base.items() if key != "plugin"}
        return overlay(base, layer)
    name = layer["plugin"]
    if name not in NAMES:
        raise UnknownName("plug-in", str(name), NAMES)
    _refuse_contradiction(layer)
    return overlay(_take_away(base, name), layer)


def expand(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the name of a plug-in stands for, in its place. What is set besides wins.

    >>> expand({"plugin": "none", "seed": 3})
    {'efficient_cls': None, 'seed': 3}
    """
    if "plugin" not in values:
        return dict(values)
    _refuse_contradiction(values)
    rest = {key: value for key, value in values.items() if key != "plugin"}
    return overlay(load_preset(values["plugin"], rest.get("strategy")), rest)


def fold(values: Mapping[str, Any]) -> dict[str, Any]:
    """A whole config with the name of Efficient-CLS+ in the place of its settings, where it has them all."""
    if not _has_plus(values):
        return dict(values)
    return {**_take_away(values, "efficient_cls_plus"), "plugin": "efficient_cls_plus"}


def is_plus(efficient_cls: Settings, strategy: str, options: Settings) -> bool:
    """Whether these are the settings that Efficient-CLS+ makes, or more."""
    return _has_plus(
        {"efficient_cls": efficient_cls.model_dump(), "strategy": {**options.model_dump(), "name": strategy}}
    )


def _has_plus(values: Mapping[str, Any]) -> bool:
    """Whether a whole config has all settings of Efficient-CLS+."""
    preset = load_preset("efficient_cls_plus", values.get("strategy"))
    sections = [(options, values.get(section)) for section, options in preset.items()]
    return all(isinstance(there, Mapping) and options.items() <= there.items() for options, there in sections)


def _refuse_contradiction(values: Mapping[str, Any]) -> None:
    name, is_null = values["plugin"], values.get("efficient_cls", ()) is None
    if "efficient_cls" in values and is_null is not (name == "none"):
        what = "is null" if is_null else "is on"
        raise InvalidConfig(f"plugin is {name}, but efficient_cls {what}: remove one of them.")


def _take_away(base: Mapping[str, Any], name: PlugInName) -> dict[str, Any]:
    """The earlier layers without all that a plug-in decides."""
    decided = load_preset(name, base.get("strategy"))
    kept = dict(base)
    if name == "none" or base.get("efficient_cls", ()) is None:
        kept.pop("efficient_cls", None)
    for section, options in decided.items():
        if isinstance(kept.get(section), Mapping):
            kept[section] = {key: value for key, value in kept[section].items() if key == "name" or key not in options}
    return kept


def load_preset(name: PlugInName, strategy: object) -> dict[str, Any]:
    """What a plug-in sets around a strategy, which is given as in a config: only options that the strategy has."""
    if name != "efficient_cls_plus":
        return {"efficient_cls": None if name == "none" else {}}
    preset = _read_plus()
    chosen = strategy.get("name") if isinstance(strategy, Mapping) else strategy
    if not isinstance(chosen, str):
        # None is named, or what is there is no name: then the check of the whole config says so.
        chosen = CHOICES["strategy"].default
    options: type[Settings] = STRATEGIES.find(chosen).Options
    known = {key: value for key, value in preset["strategy"].items() if key in options.model_fields}
    return {**preset, "strategy": {"name": chosen, **known}}


@cache
def _read_plus() -> Mapping[str, Any]:
    """Once: every run of a table is named by it."""
    file = files("leocod.plugins").joinpath("efficient_cls_plus.yaml")
    return MappingProxyType(parse_mapping(file.read_text(encoding="utf-8"), file.name))
