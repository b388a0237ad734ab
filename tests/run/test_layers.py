"""Layers of a config combine key by key, and differ key by key."""

from leocod.run.layers import compare, overlay, parse_override


def test_another_name_drops_the_options_of_the_part_before() -> None:
    base = {"strategy": {"name": "offline", "epochs": 2}}

    assert overlay(base, {"strategy": "icarl"}) == {"strategy": {"name": "icarl"}}
    assert overlay(base, {"strategy": {"name": "offline", "batch_size": 8}}) == {
        "strategy": {"name": "offline", "epochs": 2, "batch_size": 8}
    }
    assert overlay({}, {"strategy": {"replay_per_step": 8}}) == {"strategy": {"replay_per_step": 8}}


def test_an_option_that_is_called_as_a_part_is_no_part() -> None:
    base = {"strategy": {"name": "mine:Mine", "detector": "small"}}

    assert overlay(base, {"strategy": {"detector": "large"}}) == {
        "strategy": {"name": "mine:Mine", "detector": "large"}
    }


def test_overrides_are_read_as_yaml() -> None:
    assert parse_override("a.b=null") == {"a": {"b": None}}
    assert parse_override("a=[1, 2]") == {"a": [1, 2]}
    assert parse_override("a=b=c") == {"a": "b=c"}


def test_another_labeller_keeps_the_budget_and_drops_what_only_the_first_one_knows() -> None:
    base = {"labels": {"name": "random", "per_step": 2, "seed": 7, "nested": True}}

    assert overlay(base, {"labels": {"name": "fixed"}}) == {"labels": {"per_step": 2, "seed": 7, "name": "fixed"}}


def test_every_key_that_differs_is_found_with_both_values() -> None:
    before, after = {"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 1, "c": 3}, "e": None}

    assert compare(before, after) == {"a.c": ("2", "3"), "d": ("[1]", "not there"), "e": ("not there", "null")}
