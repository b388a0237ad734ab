"""Examples run as they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leocod.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("plug_in", [[], ["--no-efficient-cls"]], ids=["wrapped", "bare"])
def test_ones_own_strategy_runs_by_its_name(tmp_path, plug_in):
    out = tmp_path / "run"
    arguments = [
        *("run", "--strategy", "own_strategy:WorstFirst", "--steps", "3", "--threads", "1", "--out", str(out)),
        *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}"),
        *("--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"),
        *("--set", "strategy.candidates=8", "--set", "strategy.replay_per_step=4", *plug_in),
    ]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["event"] == "StepLearned"]
    assert any(name.startswith("replay/") for name in steps[-1]["losses"])
    assert json.loads((out / "results.json").read_text())["efficient_cls"] == (not plug_in)


def test_ones_own_metric_is_in_the_results_and_in_the_report(tmp_path):
    out = tmp_path / "run"
    arguments = [
        *("run", "--steps", "2", "--evaluate-every", "1", "--threads", "1", "--out", str(out)),
        *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}"),
        *("--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"),
        *("--set", "evaluate.metrics=[fap, own_metric:WorstClass]"),
    ]

    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)

    assert done.exit_code == 0, done.output
    results = json.loads((out / "results.json").read_text())
    assert list(results["scores"]) == ["fap", "worst_class"]
    assert results["metrics"]["worst_class"]["title"] == "AP50 of the worst class at the end"
    known = [value for value in results["evaluations"][-1]["ap_by_class"].values() if value is not None]
    assert results["scores"]["worst_class"] == min(known)
    assert "Worst, AP50 of the worst class at the end" in " ".join(done.output.split())
    assert "Worst: AP50 of the worst class at the end, points" in (out / "report.html").read_text()
    again = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["score", str(out), "--metric", "own_metric:WorstClass"])
    assert "worst_class" in again.output


@pytest.mark.parametrize("name", ["own_strategy", "own_metric"])
def test_it_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 40
