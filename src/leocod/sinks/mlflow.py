"""MLflow: losses, times, pseudo-label quality and AP as metrics of an MLflow run."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, ClassVar, Self

from leocod.events import Event
from leocod.settings import list_leaves
from leocod.sinks.base import BaseSink, RunInfo, SinkOptions, Thinning, import_extra
from leocod.sinks.tensorboard import scalars

UNFIT = re.compile(r"[^\w\-. :/]")
"""Characters that MLflow refuses in the name of a metric."""

LONGEST_VALUE = 6000
"""Characters that MLflow takes as the value of a parameter."""


class MlflowOptions(SinkOptions):
    """Options of MLflow."""

    tracking_uri: str | None = None
    """Where the tracking server or database is. Null: mlflow.db in the run directory."""
    experiment: str = "leocod"
    """The MLflow experiment."""


class Mlflow(BaseSink):
    """Logs the run to MLflow. Needs `pip install leocod[mlflow]`. A resumed run continues the same MLflow run."""

    Options: ClassVar[type[SinkOptions]] = MlflowOptions
    options: MlflowOptions

    def __init__(self, options: MlflowOptions | None = None, *, run: RunInfo) -> None:
        super().__init__(options)
        self.info = run
        self._mlflow = import_extra("mlflow", extra="mlflow")
        self._thinning = Thinning()
        self._id: str | None = None
        self._client: Any = None

    def __enter__(self) -> Self:
        folder = self.info.directory.path.resolve()
        self._client = self._mlflow.MlflowClient(self.options.tracking_uri or f"sqlite:///{folder / 'mlflow.db'}")
        if self._id is None:
            found = self._client.get_experiment_by_name(self.options.experiment)
            experiment = found.experiment_id if found else self._client.create_experiment(self.options.experiment)
            self._id = self._client.create_run(experiment, run_name=self.info.name).info.run_id
            for key, value in list_leaves(self.info.config):
                self._client.log_param(self._id, key, str(value)[:LONGEST_VALUE])
        else:
            self._client.update_run(self._id, status="RUNNING")
        return self

    def __call__(self, event: Event) -> None:
        if self._thinning.keeps(event):
            now = int(1000 * time.time())
            metric = self._mlflow.entities.Metric
            values = [
                metric(UNFIT.sub("_", name), value, now, event.step)
                for name, value in scalars(event, self._thinning.groups).items()
            ]
            self._client.log_batch(self._id, metrics=values)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.set_terminated(self._id, "FINISHED" if error is None else "FAILED")

    def state_dict(self) -> dict[str, Any]:
        return {"id": self._id}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._id = state["id"]
