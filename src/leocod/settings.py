"""Strict, frozen settings: one base class for every option in the system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

MAY_CHANGE = frozenset({"checkpoint", "record", "sinks", "patience", "workers", "bad_steps"})
"""Keys of a config that nothing that is learnt or measured depends on: they may differ when a run is resumed."""


class Settings(BaseModel):
    """Options of one part. The text under a field is its help; unknown keys are errors; nothing changes once loaded."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, validate_default=True, allow_inf_nan=False
    )

    @classmethod
    def has_option(cls, key: str) -> bool:
        """Whether a key can stand here."""
        return key in cls.model_fields


def list_leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no mapping, with the keys that lead to it."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from list_leaves(inner, f"{key}.{name}" if key else str(name))
    else:
        yield key, value
