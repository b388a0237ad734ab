"""The options of a memory."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from leocod.memory.encoding import EncodingName
from leocod.memory.intake import IntakeName
from leocod.memory.replacements.base import REPLACEMENTS
from leocod.memory.stores.base import STORES
from leocod.settings import Settings

JPEG_QUALITY = 90


class MemorySettings(Settings):
    """How much is remembered, what makes room for what, and how it is stored."""

    memory_per_class: int | None = Field(5, ge=1)
    """Frames kept for each class. Null: as many as `memory_bytes` holds."""
    memory_bytes: int | None = Field(None, ge=1)
    """Bytes that all frames and labels in the memory take at most, as they are stored. When a new frame needs room, the
    class with the most frames gives one up. Null: no limit."""
    memory_store: str = "balanced"
    """`balanced`: every class has places of its own. `random`: all frames share as many places, whatever they show. Or
    module:Class."""
    memory_intake: IntakeName | None = None
    """Which labelled frames of a step may enter the memory. `released`, as in the authors' code: 4, and those are the
    first ones where every frame of the step is labelled, or any where fewer are. `random`: any 4. `all`: every one.
    Null: as the recipe has it, `released` or (`joint`) `all`."""
    memory_replacement: str | None = None
    """When a class is full: `reservoir` keeps an even sample of all its frames; `released`, the authors' rule, lets a
    new frame in with chance n / (n + 1) for each of its objects and overwrites any of the n, which soon leaves only
    recent ones; `first` keeps those that came first; `fifo` keeps the newest. Or module:Class. Null: as the recipe has
    it, `released` or (`joint`) `reservoir`."""
    memory_encoding: EncodingName = "raw"
    """How pixels are stored: `raw` as they are; `jpeg` in about a seventh of the bytes, with a small loss, and decoded
    when they are replayed."""
    memory_jpeg_quality: int = Field(JPEG_QUALITY, ge=1, le=95)
    """Quality of `jpeg`, on the scale of libjpeg. Colours are not subsampled (4:4:4)."""

    @field_validator("memory_store")
    @classmethod
    def _find_store(cls, name: str) -> str:
        STORES.find(name)
        return name

    @field_validator("memory_replacement")
    @classmethod
    def _find_replacement(cls, name: str | None) -> str | None:
        if name is not None:
            REPLACEMENTS.find(name)
        return name

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.memory_per_class is None and self.memory_bytes is None:
            raise ValueError("memory_per_class and memory_bytes are both null: one of them must limit the memory")
        if self.memory_encoding == "raw" and self.memory_jpeg_quality != JPEG_QUALITY:
            raise ValueError(
                f"memory_jpeg_quality is {self.memory_jpeg_quality}, but memory_encoding is raw: set it to jpeg, or "
                "leave the quality out"
            )
        return self
