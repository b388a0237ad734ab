"""Weights & Biases: losses, times, pseudo-label quality and AP as curves of a W&B run."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, ClassVar, Literal, Self

from leocod.events import Event
from leocod.sinks.base import BaseSink, RunInfo, SinkOptions, Thinning, import_extra
from leocod.sinks.tensorboard import scalars


class WandbOptions(SinkOptions):
    """Options of Weights & Biases."""

    project: str = "leocod"
    """The W&B project."""
    entity: str | None = None
    """The W&B user or team. Null: your default one."""
    mode: Literal["online", "offline", "disabled"] | None = None
    """`offline` writes to the run directory only; `wandb sync` uploads it later. Null: what the environment says
    (WANDB_MODE), else online."""


class Wandb(BaseSink):
    """Logs the run to Weights & Biases. Needs `pip install leocod[wandb]`. A resumed run continues the same W&B run."""

    Options: ClassVar[type[SinkOptions]] = WandbOptions
    options: WandbOptions

    def __init__(self, options: WandbOptions | None = None, *, run: RunInfo) -> None:
        super().__init__(options)
        self.info = run
        self._wandb = import_extra("wandb", extra="wandb")
        self._thinning = Thinning()
        self._id: str | None = None
        self._run: Any = None

    def __enter__(self) -> Self:
        self._run = self._wandb.init(
            project=self.options.project,
            entity=self.options.entity,
            mode=self.options.mode,
            name=self.info.name,
            id=self._id,
            resume=None if self._id is None else "allow",
            dir=str(self.info.directory.path),
            config=dict(self.info.config),
        )
        self._id = self._run.id
        return self

    def __call__(self, event: Event) -> None:
        if self._thinning.keeps(event):
            # An evaluation before the first step is at -1, which wandb does not take.
            self._run.log(scalars(event, self._thinning.groups), step=max(event.step, 0))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run.finish(exit_code=0 if error is None else 1)

    def state_dict(self) -> dict[str, Any]:
        return {"id": self._id}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._id = state["id"]
