"""What a sink is: it gets every event of a run, and shows, stores or draws it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self, TypeGuard

from leocod.errors import InvalidConfig
from leocod.events import Evaluated, Event, RunStarted, Scored, StepLearned
from leocod.files.run_directory import RunDirectory
from leocod.find import Kind
from leocod.settings import Settings


class Sink(Protocol):
    """Anything that gets the events of a run."""

    def __enter__(self) -> Self: ...

    def __call__(self, event: Event, /) -> None:
        """Take note of an event. The learner is at rest meanwhile."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Leave everything in order, also when the run was interrupted."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What it has gathered from the events so far: tensors and plain values, for a checkpoint."""
        ...

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        """Continue from a state, before the sink is entered. Events before the checkpoint do not come again."""
        ...


@dataclass(frozen=True)
class RunInfo:
    """What a sink that is chosen by name gets to know of its run."""

    directory: RunDirectory
    config: Mapping[str, Any] = field(default_factory=dict)
    """Every option of the run, as plain values."""

    @property
    def name(self) -> str:
        """The name of the run: that of its directory."""
        return self.directory.path.resolve().name


class SinkOptions(Settings):
    """Options of every sink."""


class BaseSink:
    """A sink with nothing to open, close or keep. A subclass overrides what it needs.

    A subclass in `sinks/<name>.py` is built as `Subclass(options, run=RunInfo(...))`.
    """

    Options: ClassVar[type[SinkOptions]] = SinkOptions

    def __init__(self, options: Any = None, *, run: RunInfo | None = None) -> None:
        self.options = options or self.Options()

    def __enter__(self) -> Self:
        return self

    def __call__(self, event: Event, /) -> None:
        """Take note of an event."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        return None

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        return None


def import_extra(module: str, *, extra: str) -> Any:
    """A package that only some users have; without it, one line that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidConfig(
            f"sinks has `{extra}`, but {module} is not installed ({error}). Install it: pip install 'leocod[{extra}]'."
        ) from error


class Thinning:
    """Which steps of a run become points of a curve: a stream of weeks would fill a disk, and nobody sees more.

    Also which classes have curves of their own.
    """

    MOST_POINTS = 2000

    def __init__(self) -> None:
        self._every: int | None = None
        """Known only if the length of the stream is."""
        self.groups: Mapping[str, Collection[int]] = {}
        """Name -> numbers of the classes that have curves of their own."""

    def keeps(self, event: Event) -> TypeGuard[StepLearned | Evaluated | Scored]:
        """Whether an event becomes points of curves: every evaluation, and a part of the steps.

        Of a stream of unknown length every step at first, then every second, every fourth, and so on.
        """
        if isinstance(event, RunStarted):
            self._every = None if event.steps is None else -(-event.steps // self.MOST_POINTS)
            self.groups = event.groups
        if not isinstance(event, StepLearned):
            return isinstance(event, Evaluated | Scored)
        every = self._every if self._every is not None else 1 << (event.step // self.MOST_POINTS).bit_length()
        return event.step % every == 0


SINKS: Kind[BaseSink] = Kind("sink", "leocod.sinks", ("__call__", "__enter__", "__exit__", "state_dict"))
