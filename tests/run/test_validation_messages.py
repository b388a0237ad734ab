from typing import Any

import pytest
from pydantic import Field, ValidationError

from leocod.run.validation_messages import explain
from leocod.settings import Settings


class Inner(Settings):
    share: float = Field(0.5, ge=0, lt=1)


class Outer(Settings):
    count: int = Field(1, ge=1)
    inner: Inner = Inner()
    maybe: Inner | None = None


def complaint(values: dict[str, Any], prefix: str = "") -> str:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(values)
    return str(explain(caught.value, Outer, prefix))


def test_an_unknown_key_is_told_with_the_nearest() -> None:
    assert complaint({"coutn": 1}) == "coutn: unknown key. Did you mean 'count'?"


def test_an_unknown_key_without_a_near_one_is_told_with_all() -> None:
    assert complaint({"zzz": 1}) == "zzz: unknown key. Known: count, inner, maybe."


def test_inner_keys_are_named_in_full() -> None:
    assert complaint({"inner": {"shar": 1}}) == "inner.shar: unknown key. Did you mean 'share'?"
    assert complaint({"maybe": {"shar": 1}}, "outer") == "outer.maybe.shar: unknown key. Did you mean 'share'?"


def test_a_key_that_stands_one_level_deeper_is_named_in_full() -> None:
    assert complaint({"share": 1}) == "share: unknown key. Did you mean 'inner.share' or 'maybe.share'?"


def test_the_whole_range_is_told() -> None:
    assert complaint({"inner": {"share": 2}}) == "inner.share is 2: it should be at least 0 and less than 1."


def test_values_are_shown_as_in_yaml() -> None:
    assert complaint({"maybe": False}) == "maybe is false: it should be a mapping of options, or null."
    assert complaint({"inner": None}) == "inner is null: it should be a mapping of options."


def test_further_mistakes_are_counted() -> None:
    assert complaint({"count": 0, "inner": {"share": 2}}) == "count is 0: it should be at least 1. (1 more like this.)"


def test_a_key_that_is_no_text_is_as_unknown_as_another() -> None:
    assert complaint({"inner": {1: 2}}) == "inner.1: unknown key. Known: share."


def test_a_long_or_illegible_key_is_written_out_and_cut() -> None:
    assert complaint({"a\nb\x1b": 1}).startswith("a\\nb\\x1b: unknown key.")
    assert complaint({"k" * 10_000: 1}).startswith("k" * 57 + "...: unknown key.")


@pytest.mark.parametrize("size", [1, 4])
def test_a_value_that_would_fill_the_memory_is_told_shortly(size: int) -> None:
    value: list[Any] = ["x"]
    for _ in range(40 * size):
        value = [value] * 40

    said = complaint({"count": value})

    assert said.startswith("count is [[[")
    assert len(said) < 150


def test_a_value_inside_itself_and_a_number_without_end_are_told_shortly() -> None:
    circle: list[Any] = []
    circle.append(circle)

    assert complaint({"count": circle}).startswith("count is [[[")
    assert complaint({"inner": 10**5000}).startswith("inner is a number of very many digits: it should be")
