"""What a sink answers."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

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


class Resting:
    """A sink that has nothing to open and nothing to close."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        return None
