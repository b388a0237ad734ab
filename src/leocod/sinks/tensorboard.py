"""tensorboard/: losses, times, pseudo-label quality and AP as curves."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tensorboard.summary import Writer

from leocod.events import Evaluated, Event, StepLearned


class TensorBoard:
    """Writes scalars only; look at them with `tensorboard --logdir runs`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def __enter__(self) -> Self:
        self._writer = Writer(str(self.folder))
        return self

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepLearned | Evaluated):
            for name, value in scalars(event).items():
                self._writer.add_scalar(name, value, event.step)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()


def scalars(event: StepLearned | Evaluated) -> dict[str, float]:
    """The curves' next values."""
    if isinstance(event, Evaluated):
        known = {name: 100 * value for name, value in event.ap_by_class.items() if value is not None}
        mean = {event.ap_name: sum(known.values()) / len(known)} if known else {}
        return mean | {f"{event.ap_name} by class/{name}": value for name, value in known.items()}
    values = {f"loss/{name}": value for name, value in event.losses.items()}
    values |= {f"seconds/{name}": value for name, value in event.seconds.items()}
    values["memory/bytes"] = float(event.memory_bytes)
    if event.audit is not None and event.audit.labels:
        values["pseudo labels/precision"] = event.audit.right / event.audit.labels
    if event.audit is not None and event.audit.objects:
        values["pseudo labels/recall"] = event.audit.right / event.audit.objects
    return values
