"""An MLflow run in a data base below the run directory."""

from __future__ import annotations

import pytest

from leocod.files.run_directory import RunDirectory
from leocod.sinks.base import RunInfo
from leocod.sinks.mlflow import Mlflow

pytestmark = [
    pytest.mark.slow,
    # What MLflow's own libraries warn about is theirs to fix.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::sqlalchemy.exc.SADeprecationWarning"),
]


def test_curves_options_and_the_end_are_in_the_data_base_and_a_resumed_run_continues(events, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    info = RunInfo(RunDirectory(tmp_path), {"seed": 3, "labels": {"per_step": 4}})

    with Mlflow(run=info) as first:
        for event in events[:5]:
            first(event)
    second = Mlflow(run=info)
    second.load_state_dict(first.state_dict())
    with second:
        for event in events[5:]:
            second(event)

    client, run = second._client, second.state_dict()["id"]
    stored = client.get_run(run)
    assert stored.data.params == {"seed": "3", "labels.per_step": "4"}
    assert [metric.value for metric in client.get_metric_history(run, "AP50")] == [37.5, 50.0]
    assert stored.info.status == "FINISHED"
    assert stored.info.run_name == tmp_path.name
