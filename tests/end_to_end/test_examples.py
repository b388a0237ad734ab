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


@pytest.mark.parametrize("strategy", ["icarl", "iod"])
def test_ones_own_detector_runs_by_its_name(tmp_path, strategy):
    out = tmp_path / "run"
    arguments = [
        *("run", "--detector", "own_detector:MyDetector", "--strategy", strategy, "--steps", "2", "--threads", "1"),
        *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}", "--set", "detector.width=8"),
        *("--out", str(out)),
    ]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    assert "own_detector:MyDetector" in (out / "config.yaml").read_text()
    assert (out / "results.json").is_file()


@pytest.mark.parametrize("name", ["own_strategy", "own_detector"])
def test_it_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 40
