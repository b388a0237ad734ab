"""tensorboard/: losses, times, pseudo-label quality and AP as curves."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from itertools import count
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from tensorboard.compat.proto.event_pb2 import Event as Record
from tensorboard.summary.writer.record_writer import RecordWriter

from leocod.events import Evaluated, Event, PseudoLabelAudit, Scored, StepLearned
from leocod.files.atomic import append, open_to_append
from leocod.sinks.base import BaseSink, RunInfo, SinkOptions, Thinning

NO_GROUPS: Mapping[str, Collection[int]] = MappingProxyType({})


class TensorBoard(BaseSink):
    """Writes curves for TensorBoard; look at them with `tensorboard --logdir runs`.

    A resumed run writes another file. Steps that come again have the same values as before, except for times.
    """

    def __init__(self, options: SinkOptions | None = None, *, run: RunInfo) -> None:
        super().__init__(options)
        self.folder = run.directory.tensorboard
        self._writer: Any = None
        self._thinning = Thinning()

    def __enter__(self) -> Self:
        self._writer = CurveFile(self.folder)
        return self

    def __call__(self, event: Event) -> None:
        if self._thinning.keeps(event):
            for name, value in scalars(event, self._thinning.groups).items():
                self._writer.add_scalar(name, value, event.step)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()


class CurveFile:
    """A file that TensorBoard reads, in which each record is there at once, whole or not at all.

    TensorBoard's own writer has a thread for it, and a full disk is a traceback of that thread.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # The first number is what TensorBoard puts the files of a folder in order by.
        stem = f"events.out.tfevents.{int(time.time()):010d}.{os.getpid()}"
        path = next(path for number in count() if not (path := folder / f"{stem}.{number}").exists())
        self._file = open_to_append(path, new=True)
        self._records = RecordWriter(self)
        self._records.write(Record(wall_time=time.time(), file_version="brain.Event:2").SerializeToString())

    def add_scalar(self, name: str, value: float, step: int) -> None:
        """The next point of a curve."""
        record = Record(wall_time=time.time(), step=step)
        record.summary.value.add(tag=name, simple_value=value)
        self._records.write(record.SerializeToString())

    def write(self, data: bytes) -> None:
        """Called by TensorBoard, with a whole record."""
        append(self._file, data)

    def close(self) -> None:
        os.close(self._file)


def scalars(
    event: StepLearned | Evaluated | Scored, groups: Mapping[str, Collection[int]] = NO_GROUPS
) -> dict[str, float]:
    """The curves' next values; of the metrics of a run there is one value each.

    `groups`: name -> classes whose pseudo labels have curves of their own.
    """
    if isinstance(event, Scored):
        return {f"scores/{name}": value for name, value in event.scores.items() if value is not None}
    if isinstance(event, Evaluated):
        known = {name: 100 * value for name, value in event.ap_by_class.items() if value is not None}
        mean = {event.ap_name: sum(known.values()) / len(known)} if known else {}
        return mean | {f"{event.ap_name} by class/{name}": value for name, value in known.items()}
    values = {f"loss/{name}": value for name, value in event.losses.items()}
    values |= {f"seconds/{name}": value for name, value in event.seconds.items()}
    values["memory/bytes"] = float(event.memory_bytes)
    if event.audit is not None:
        values |= _measure(event.audit, "")
        for name, classes in groups.items():
            if (part := event.audit.select(classes)) is not None:
                values |= _measure(part, f" of {name} classes")
    if event.check is not None and event.check.labels:
        values["pseudo labels/precision on labelled frames"] = event.check.right / event.check.labels
    return values


def _measure(audit: PseudoLabelAudit, ending: str) -> dict[str, float]:
    """Precision and recall of pseudo labels, as far as there is something to divide by."""
    shares = {"precision": audit.precision, "recall": audit.recall}
    return {f"pseudo labels/{name}{ending}": share for name, share in shares.items() if share is not None}
