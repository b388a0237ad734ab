"""Configs: what is written reads back, layers lie over each other, and whatever is wrong is told in one line."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import arbitrary
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.strategies import SearchStrategy
from pydantic.fields import FieldInfo

from leocod.errors import InvalidConfig
from leocod.run.choices import CHOICES, Choice, SinkChoice
from leocod.run.config import ExperimentConfig, describe_changes, load_config, load_mapping
from leocod.run.layers import overlay, parse_override
from leocod.settings import MAY_CHANGE, Settings

for choice in (*CHOICES.values(), SinkChoice):
    for chosen in choice.kind.names():
        # Imported now, and not while examples are drawn: some libraries use `random` when they are imported.
        choice.kind.find(chosen)

texts = some.text(some.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
"""Whatever a file may hold; a NUL is in no path and no name."""

plain = some.none() | some.booleans() | some.integers(-(2**70), 2**70) | some.floats() | texts
exact = some.none() | some.booleans() | some.integers(-(2**70), 2**70) | some.floats(allow_nan=False) | texts
odd = plain | some.dates() | some.datetimes() | some.binary(max_size=4) | some.sampled_from(["wander", "icarl", "a:b"])


def nested(leaves: SearchStrategy[Any], keys: SearchStrategy[Any] = texts) -> SearchStrategy[Any]:
    """Lists and mappings of values, in each other."""
    return some.recursive(
        leaves, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(keys, inner, max_size=3), max_leaves=6
    )


junk = nested(odd, plain)
known_keys = some.sampled_from([*ExperimentConfig.model_fields, "name", "per_step", "steps"])
parts = some.sampled_from(["icarl", "offline", "tiny", "wander"])
parts_or_not = parts | some.fixed_dictionaries({}, optional={"name": parts | exact, "steps": exact}) | exact
layers = some.builds(
    lambda some_keys, some_parts: some_keys | some_parts,
    some.dictionaries(known_keys, nested(exact, known_keys | texts), max_size=4),
    some.fixed_dictionaries({"strategy": parts_or_not}, optional={"benchmark": parts_or_not, "detector": parts_or_not}),
)


# -- configs that can be


def _name(key: str, values: Mapping[str, Any]) -> str:
    chosen: str = values.get(key, {}).get("name", CHOICES[key].default)
    return chosen


def fields(values: Mapping[str, Any]) -> dict[tuple[str, ...], FieldInfo]:
    """Every option there is, by the keys that lead to it, once the parts have their names."""
    found: dict[tuple[str, ...], FieldInfo] = {}
    for key, field in ExperimentConfig.model_fields.items():
        inner: Any = CHOICES[key].kind.find(_name(key, values)).Options if key in CHOICES else None
        for one in (field.annotation, *get_args(field.annotation)):
            if isinstance(one, type) and issubclass(one, Settings) and not issubclass(one, Choice):
                inner = one
        if inner is None:
            found[key,] = field
        else:
            found |= {(key, name): own for name, own in inner.model_fields.items()}
    return found


def values_of(annotation: Any, field: FieldInfo) -> SearchStrategy[Any]:
    """Values of a type, mostly within the bounds of the field."""
    if get_origin(annotation) in (Union, types.UnionType):
        return some.one_of([values_of(one, field) for one in get_args(annotation)])
    if get_origin(annotation) is Literal:
        return some.sampled_from(get_args(annotation))
    if get_origin(annotation) is tuple:
        return some.lists(values_of(get_args(annotation)[0], field), max_size=3)
    bounds = {
        name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le", "lt") if hasattr(rule, name)
    }
    least, most = bounds.get("ge", bounds.get("gt")), bounds.get("le", bounds.get("lt"))
    if annotation is int:
        return some.integers(least, most if most is not None else (least or 0) + 2**62)
    if annotation is float:
        return some.floats(least, most, allow_nan=False, allow_infinity=False)
    return {bool: some.booleans(), type(None): some.none()}.get(annotation, texts)


@some.composite
def configs(draw: Any) -> ExperimentConfig:
    """One option after the other is set; what does not fit with the others is left as it was."""
    values: dict[str, Any] = {
        key: {"name": draw(some.sampled_from(kind.kind.names()))} for key, kind in CHOICES.items()
    }
    options = fields(values)
    for keys, field in options.items():
        if field.is_required():
            values = overlay(values, under(keys, "somewhere"))
    for keys in draw(some.lists(some.sampled_from(sorted(options)), max_size=8)):
        changed = overlay(values, under(keys, draw(values_of(options[keys].annotation, options[keys]))))
        try:
            load_mapping(changed)
        except InvalidConfig:
            continue
        values = changed
    return load_mapping(values)


def under(keys: Any, value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("configs") / "config.yaml"


@given(configs())
def test_what_is_written_reads_back_as_the_same(file: Path, config: ExperimentConfig) -> None:
    file.write_text(config.to_yaml(), encoding="utf-8")

    again = load_config(file)

    assert again == config
    assert again.to_yaml() == config.to_yaml()
    assert describe_changes(again, config) == []


@given(configs(), configs())
def test_only_the_same_configs_have_no_differences_but_for_what_may_change(
    one: ExperimentConfig, two: ExperimentConfig
) -> None:
    def lasting(config: ExperimentConfig) -> Any:
        return config.model_dump(mode="json", exclude=set(MAY_CHANGE))

    said = describe_changes(one, two)

    assert bool(said) == (lasting(one) != lasting(two))
    assert all("\n" not in line for line in said)


@arbitrary.fewer
@given(configs(), some.data())
def test_every_option_can_be_given_as_an_override(config: ExperimentConfig, data: Any) -> None:
    values = yaml.safe_load(config.to_yaml())
    key = data.draw(some.sampled_from(sorted(values)))
    text = yaml.safe_dump(values[key], default_flow_style=True, width=10**6)

    assert parse_override(f"{key}={text}") == {key: values[key]}


# -- layers


@given(layers, layers)
def test_a_layer_laid_over_twice_is_laid_over_once(base: Any, layer: Any) -> None:
    before = repr((base, layer))

    once = overlay(base, layer)

    assert overlay(once, layer) == once
    assert repr((base, layer)) == before


@given(layers, layers)
def test_the_last_layer_wins_and_what_it_does_not_name_stays(base: Any, layer: Any) -> None:
    result = overlay(base, layer)

    assert set(result) == set(base) | set(layer)
    assert all(result[key] == base[key] for key in set(base) - set(layer))
    for key, value in layer.items():
        named = {"name": value} if key in CHOICES and isinstance(value, str) else value
        if isinstance(named, Mapping) and isinstance(result[key], Mapping):
            assert set(named) <= set(result[key])
            assert all(result[key][own] == one for own, one in named.items() if not isinstance(one, Mapping | str))
        else:
            assert result[key] == named


@given(layers)
def test_nothing_laid_over_is_nothing_changed(base: Any) -> None:
    assert overlay(base, {}) == base


@given(some.sampled_from(list(CHOICES)), some.data())
def test_another_name_forgets_the_options_of_the_one_before_and_the_same_name_keeps_them(key: str, data: Any) -> None:
    one, two = (data.draw(some.sampled_from(CHOICES[key].kind.names())) for _ in range(2))

    result = overlay({key: {"name": one, "option": 1}}, {key: two})

    assert result == {key: {"name": two} if one != two else {"name": one, "option": 1}}


words = some.text("abcxyz_", min_size=1, max_size=5)


@given(some.lists(words, min_size=1, max_size=4), nested(exact, words))
def test_an_override_says_what_its_text_says(keys: list[str], value: Any) -> None:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6)

    assert parse_override(f"{'.'.join(keys)}={text}") == under(keys, value)


# -- whatever is wrong


def complaint(read: Callable[[Any], Any], given_value: Any) -> str | None:
    """What is said of a value; None when it can be read. Any other error than this one is a mistake of ours."""
    try:
        read(given_value)
    except InvalidConfig as error:
        return str(error)
    return None


def is_one_line(said: str | None) -> bool:
    return said is None or said.splitlines() == [said]


@given(some.data(), junk)
def test_any_value_for_any_option_is_taken_or_told_in_one_line_with_the_key(data: Any, value: Any) -> None:
    # No label a step, so that no number of frames in one is too small for them.
    values: dict[str, Any] = {key: {"name": kind.default} for key, kind in CHOICES.items()} | {
        "labels": {"per_step": 0}
    }
    keys = data.draw(some.sampled_from(sorted([*fields(values), *((key,) for key in ExperimentConfig.model_fields)])))

    said = complaint(load_mapping, overlay(values, under(keys, value)))

    if said is not None:
        assert keys[0] in said
        assert is_one_line(said)
        assert len(said) < 700


@given(some.data(), texts | plain)
def test_any_key_that_does_not_exist_is_told_in_one_line(data: Any, key: Any) -> None:
    place = data.draw(some.sampled_from([(), ("labels",), ("strategy",), ("detector",), ("efficient_cls",)]))
    known = {*ExperimentConfig.model_fields, "name", "keep"} | set(
        fields({k: {"name": p.default} for k, p in CHOICES.items()})
    )
    if key in known or (place and any((*place, key) == one for one in known)):
        return

    said = complaint(load_mapping, under((*place, key), 1))

    assert said is not None
    assert is_one_line(said)
    assert "unknown key" in said
    assert not place or said.startswith(f"{place[0]}.")


@given(some.dictionaries(texts | known_keys, junk, max_size=3))
def test_any_mapping_is_a_config_or_told_in_one_line(values: Any) -> None:
    said = complaint(load_mapping, values)

    assert is_one_line(said)


@given(some.text(max_size=12) | some.tuples(known_keys, some.text("[]{}:,!&*'\"#- 01ab.\n", max_size=8)).map("=".join))
def test_any_override_is_a_layer_or_told_in_one_line(text: str) -> None:
    said = complaint(parse_override, text)

    assert is_one_line(said)
    if said is None:
        assert list(parse_override(text)) == [text.partition("=")[0].strip().split(".")[0]]


@given(some.text("abc:-[]{} \n#&*!|>'\"1.", max_size=30) | some.binary(max_size=30))
def test_any_file_is_a_config_or_told_in_one_line(file: Path, content: Any) -> None:
    file.write_bytes(content.encode() if isinstance(content, str) else content)

    said = complaint(load_config, file)

    assert is_one_line(said)


@given(layers, layers, layers)
def test_any_layers_are_a_config_or_told_in_one_line(one: Any, two: Any, three: Any) -> None:
    said = complaint(load_mapping, overlay(overlay(one, two), three))

    assert is_one_line(said)
