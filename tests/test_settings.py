from typing import Any

import pytest
from pydantic import Field, ValidationError

from leocod.settings import Settings


class Oven(Settings):
    """Options of an oven."""

    degrees: int = Field(180, le=250)
    """How hot."""


def test_unknown_keys_are_errors() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Oven.model_validate({"degree": 200})


def test_nothing_changes_after_loading() -> None:
    oven: Any = Oven()

    with pytest.raises(ValidationError, match="frozen"):
        oven.degrees = 200


def test_the_text_under_a_field_is_its_help() -> None:
    assert Oven.model_fields["degrees"].description == "How hot."


def test_defaults_are_checked_too() -> None:
    class Furnace(Oven):
        degrees: int = Field(900, le=250)

    with pytest.raises(ValidationError, match="less than or equal to 250"):
        Furnace()
