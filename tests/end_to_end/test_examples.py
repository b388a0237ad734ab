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


@pytest.mark.parametrize(
    "policies",
    [
        ["memory_store=own_memory_policy:BalancedWithEmpty"],
        ["memory_replacement=own_memory_policy:MostBoxes", "memory_per_class=1"],
        ["memory_replacement=own_memory_policy:MostBoxes", "memory_bytes=60000", "memory_encoding=jpeg"],
    ],
    ids=lambda policies: policies[0].rpartition(":")[2],
)
def test_ones_own_memory_policies_run_by_their_names(tmp_path, policies):
    out = tmp_path / "run"
    arguments = [
        *("run", "--strategy", "icarl", "--steps", "3", "--threads", "1", "--out", str(out), "--no-efficient-cls"),
        *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}"),
        *("--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"),
        *("--set", "strategy.replay_per_step=4"),
        *(word for policy in policies for word in ("--set", f"strategy.{policy}")),
    ]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    memory = json.loads((out / "memory.json").read_text())
    assert memory["frames"] > 0
    assert memory["bytes"] <= 60_000 or "memory_bytes=60000" not in policies


@pytest.mark.parametrize("name", ["own_strategy.py", "own_memory_policy.py"])
def test_an_example_is_short(name):
    assert len((EXAMPLES / name).read_text().splitlines()) < 40
