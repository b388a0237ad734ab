"""The benchmarks: every script runs, in its smallest form, and its figures say what they were made with."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

import kept_bytes
import numpy as np
import pytest
from harness import Spread, in_turn, table

from leocod.detectors.base import DETECTORS
from leocod.types import Frame

BENCH = Path(__file__).parents[1] / "bench"

SMALLEST = {
    "augment": ["--rounds", "1"],
    "busy_machine": ["--steps", "1", "--loops", "0"],
    "checkpoint": ["--rounds", "1", "--every", "1", "--filling", "1"],
    "ema": ["--rounds", "1"],
    "evaluation": [
        *("--rounds", "1", "--frames", "4", "--detections", "5", "--classes", "3"),
        *("--filling", "1", "--steps", "1", "--test-frames", "4"),
    ],
    "growth": [
        *("--rounds", "1", "--warm-up", "0", "--most-classes", "100", "--most-frames", "16"),
        *("--memory-steps", "1", "--young", "0", "--old", "1"),
    ],
    "intervals": ["--draws", "2"],
    "kept_bytes": ["--frames", "2"],
    "live_person": ["--minutes", "0.2"],
    "live": ["--rounds", "1", "--seconds", "15"],
    "memory": ["--rounds", "1", "--times", "2"],
    "parts": ["--rounds", "1"],
    "plus_cost": ["--rounds", "1", "--filling", "1"],
    "startup": ["--rounds", "1", "--warm-up", "0", "--runs", "1"],
    "step": ["--rounds", "1", "--tiny-only", "1", "--threads", "1"],
    "tried": ["--rounds", "1", "--tiny-only", "1", "--compile", "0"],
    "stream": ["--rounds", "1", "--steps", "2", "--times", "2", "--walk", "2"],
}
"""What to call each script with, so that it is over soon."""
TAKE_MINUTES = {"at_scale", "detector_cost", "same_numbers", "strategy_cost", "two_processes", "versions"}
NOT_SCRIPTS = {"cases", "harness", "plain"}


def called(monkeypatch, name, *given):
    script = BENCH / f"{name}.py"
    monkeypatch.setattr(sys, "argv", [str(script), *given])
    runpy.run_path(str(script), run_name="__main__")


# One of them forks; a test runner has threads, which a script of its own has not.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_prints_a_table_and_a_ratio_and_writes_figures(name, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "folder" / "figures.json"

    called(monkeypatch, name, *SMALLEST[name], "--out", str(out))

    content = json.loads(out.read_text())
    assert content["made_with"]["threads"] == 1
    assert content["made_with"]["command"][:2] == ["python", f"bench/{name}.py"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("| ---")
    assert re.search(r"\d\.\d\d", lines[-1])
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_every_script_is_tried_or_known_to_take_long():
    there = {file.stem for file in BENCH.glob("*.py")}

    assert there - TAKE_MINUTES - NOT_SCRIPTS == set(SMALLEST)


@pytest.mark.parametrize(("frozen", "numbers"), [(4, 55_296), (0, 3 * 192 * 256)])
def test_features_are_all_that_the_learning_layers_need(frozen, numbers):
    """The pyramid of MobileNetV2 reads maps of 32 x 24 x 32 and 64 x 12 x 16; 96 x 12 x 16 leave 4 frozen stages."""
    settings = {"backbone": "mobilenet_v2-fpn", "short_side": 192, "pyramid_channels": 64, "frozen": frozen}
    kind = DETECTORS.find("faster_rcnn")
    detector = kind(("mug",), kind.Options.model_validate(settings))
    pixels = np.zeros((192, 256, 3), np.uint8)

    assert kept_bytes.count_features(detector, Frame(0, "v", 0, (192, 256), pixels)) == numbers


def test_figures_are_kept_beside_the_results_and_are_whole():
    files = sorted((BENCH.parent / "results" / "bench").glob("*.json"))

    assert files
    for file in files:
        assert (BENCH / f"{file.stem}.py").is_file()
        assert json.loads(file.read_text())
    assert not list(BENCH.glob("*.json"))


def test_a_spread_is_the_median_and_the_middle_half():
    spread = Spread((5.0, 1.0, 2.0, 4.0, 3.0))

    assert spread.median == 3
    assert spread.quarters == (2, 4)
    assert spread.kept() == {"median": 3, "first_quarter": 2, "third_quarter": 4, "count": 5}
    assert spread.told() == "3.00 (2.00 to 4.00)"
    assert spread.told(unit=0.5, digits=0) == "6 (4 to 8)"


def test_a_single_number_is_its_own_spread():
    assert Spread((2.0,)).quarters == (2, 2)


def test_a_ratio_is_taken_round_by_round():
    # The second round was slow for both.
    one, two = Spread((2.0, 20.0, 2.0)), Spread((1.0, 10.0, 4.0))

    assert one.over(two).values == (2, 2, 0.5)
    with pytest.raises(ValueError, match="shorter"):
        one.over(Spread((1.0,)))


def test_in_every_round_each_side_has_its_turn_and_the_first_do_not_count():
    done = []

    taken = in_turn({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, rounds=2, warm_up=1)

    assert done == ["a", "b"] * 3
    assert [len(taken[side].values) for side in ("a", "b")] == [2, 2]
    assert min(taken["a"].values) > 0


def test_the_time_of_a_side_is_its_own(monkeypatch):
    clock = iter([0, 1, 1, 3, 10, 11, 11, 15])
    monkeypatch.setattr("harness.time.perf_counter", lambda: next(clock))

    taken = in_turn({"a": int, "b": int}, rounds=2, warm_up=0)

    assert taken["a"].values == (1, 1)
    assert taken["b"].values == (2, 4)


def test_a_table_is_markdown():
    assert table(["a", "b"], [[1, "x"]]).splitlines() == ["| a | b |", "| --- | --- |", "| 1 | x |"]
