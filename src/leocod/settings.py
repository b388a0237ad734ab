"""Strict, frozen settings: one base class for every option in the system."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Options of one part. The text under a field is its help; unknown keys are errors; nothing changes once loaded."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, validate_default=True, allow_inf_nan=False
    )
