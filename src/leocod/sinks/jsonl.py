"""events.jsonl: what happened, one JSON object a line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from leocod.events import Event, PseudoLabelAudit, StepFinished

TOO_LARGE = {"detections", "pseudo"}
"""Fields that have files of their own, or none."""


class JsonLines:
    """Appends each event as it comes, so that a broken-off run can be read up to its last step."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        self._file = self.path.open("a", encoding="utf-8", buffering=1)
        return self

    def __call__(self, event: Event) -> None:
        if self._file is None:
            raise RuntimeError("Enter the context first: with JsonLines(path) as sink.")
        # It says nothing that the next StepLearned does not.
        if not isinstance(event, StepFinished):
            self._file.write(json.dumps(as_mapping(event), allow_nan=False) + "\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


def as_mapping(event: Event) -> dict[str, Any]:
    """The event's name and its fields, without what is too large for a line."""
    values = {field.name: getattr(event, field.name) for field in fields(event) if field.name not in TOO_LARGE}
    return {"event": type(event).__name__, **{name: _plain(value) for name, value in values.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, PseudoLabelAudit):
        return asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    # A loss that has run away is worth knowing about, but JSON has no word for it.
    return None if isinstance(value, float) and not math.isfinite(value) else value
