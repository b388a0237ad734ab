"""What a sink answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from leocod.events import Event


class Sink(Protocol):
    """Anything that is told what happens in a run."""

    def __enter__(self) -> Self: ...

    def __call__(self, event: Event, /) -> None:
        """Take note of an event. The learner is at rest meanwhile."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Leave everything in order, also when the run was broken off."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What it has gathered from the events so far: tensors and plain values, for a checkpoint."""
        ...

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        """Go on from there, before it is entered: the events up to the checkpoint are not told again."""
        ...


class BaseSink:
    """A sink that has nothing to open, nothing to close and nothing to keep, unless it says so."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        return None

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        return None
