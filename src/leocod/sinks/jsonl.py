"""events.jsonl: what happened, one JSON object a line; of a long run, the earlier steps packed in events/."""

from __future__ import annotations

import gzip
import json
import math
import os
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from pydantic import Field

from leocod.errors import InvalidRun
from leocod.events import Event, RunStarted, StepArrived, StepFinished, StepTested, StreamEnded
from leocod.files.atomic import append, atomic_write, open_to_append
from leocod.files.run_directory import list_packed_events, packed_path
from leocod.sinks.base import BaseSink, RunInfo, SinkOptions

TOO_LARGE = {"detections", "pseudo", "frames", "truth"}
"""Fields that have files of their own, or none."""

SILENT = StepArrived | StepTested | StepFinished | StreamEnded
"""Events that say nothing that the next one does not."""


class JsonLinesOptions(SinkOptions):
    """Options of events.jsonl."""

    pack_every: int = Field(10_000, ge=1)
    """Steps after which the file is packed away, to about a fifth of its size, and a new one begun."""


class JsonLines(BaseSink):
    """Appends each event to events.jsonl, a whole line or nothing, so that an interrupted run can be read.

    Every so many steps the file is compressed into events/ and a new one begins, with the RunStarted as its first line,
    so that each file can be read by itself.
    """

    Options: ClassVar[type[SinkOptions]] = JsonLinesOptions
    options: JsonLinesOptions

    def __init__(self, options: JsonLinesOptions | None = None, *, run: RunInfo) -> None:
        super().__init__(options)
        self.path = run.directory.events
        self.folder = run.directory.earlier_events
        self._file: int | None = None
        self._bytes = 0
        """Written so far, whole lines."""
        self._next_step = 0
        self._started: RunStarted | None = None

    def __enter__(self) -> Self:
        """Cut off events after the state that was loaded: those steps come again."""
        self._unpack()
        self._file = open_to_append(self.path)
        if os.fstat(self._file).st_size < self._bytes:
            raise InvalidRun(f"{self.path} is shorter than it was when the checkpoint was saved. Put it back.")
        os.ftruncate(self._file, self._bytes)
        return self

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._started = event
        if isinstance(event, StepFinished):
            self._next_step = event.step + 1
            if self._next_step % self.options.pack_every == 0:
                self._pack()
        # A resumed run has written its RunStarted before.
        elif not isinstance(event, SILENT) and not (isinstance(event, RunStarted) and event.first_step):
            self._write(event)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, event: Event) -> None:
        if self._file is None:
            raise RuntimeError("Enter the context first: with JsonLines(run=...) as sink.")
        line = (json.dumps(as_mapping(event), allow_nan=False) + "\n").encode()
        append(self._file, line)
        self._bytes += len(line)

    def _pack(self) -> None:
        with (
            atomic_write(packed_path(self.folder, self._next_step - 1)) as temporary,
            temporary.open("wb") as target,
            # Without the name of a temporary file and the time: the same events are the same bytes.
            gzip.GzipFile("", "wb", fileobj=target, mtime=0) as packed,
            self.path.open("rb") as file,
        ):
            shutil.copyfileobj(file, packed)
        if self._file is not None and self._started is not None:
            os.ftruncate(self._file, 0)
            self._bytes = 0
            self._write(replace(self._started, first_step=self._next_step))

    def _unpack(self) -> None:
        """Bring back what was packed after the state was saved. The first such file begins where this one did."""
        later = [path for step, path in list_packed_events(self.folder).items() if step >= self._next_step]
        if later:
            with atomic_write(self.path) as temporary:
                temporary.write_bytes(_read_packed(later[0]))
        # The first one last: it is needed until all others are gone.
        for path in reversed(later):
            path.unlink()

    def state_dict(self) -> dict[str, Any]:
        if self._file is not None:
            # A checkpoint must not be younger than its log.
            os.fsync(self._file)
        return {"bytes": self._bytes, "next_step": self._next_step}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._bytes, self._next_step = state["bytes"], state["next_step"]


def _read_packed(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidRun(f"{path} cannot be read ({error}). Put it back.") from error


def as_mapping(event: Event) -> dict[str, Any]:
    """The event's name and its fields, without what is too large for a line."""
    values = {field.name: getattr(event, field.name) for field in fields(event) if field.name not in TOO_LARGE}
    return {"event": type(event).__name__, **{name: _plain(value) for name, value in values.items()}}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    # A loss that has run away is worth knowing about, but JSON has no word for it.
    return None if isinstance(value, float) and not math.isfinite(value) else value
