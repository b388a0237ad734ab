"""Two processes that learn as one against one alone, on this machine's CPU: the time of a step, and what they learnt.

    .venv/bin/python bench/two_processes.py

One thread a process; the built-in world, Faster R-CNN on MobileNetV2 started by chance, Efficient-CLS around replay
with 4 of 16 frames labelled. The third run is one process with two threads: what rounding alone does. Writes
results/bench/two_processes.json.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from harness import RESULTS

from leocod.run.environment import read_source_state

SETTINGS = {
    "benchmark": "{name: wander, steps: 6, width: 256, height: 192}",
    "detector": "{name: faster_rcnn, backbone: mobilenet_v2-fpn, short_side: 192, regions: 32, proposals: 96}",
    "labels.per_step": "4",
    "evaluate.every": "6",
}


def run(folder: Path, name: str, *arguments: str, launcher: Sequence[str] = (), threads: int = 1) -> None:
    """One run."""
    chosen = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", *launcher, "leocod", "run", *chosen, *arguments, "--out", str(folder / name)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": str(threads)})


def learned(folder: Path, name: str) -> list[dict[str, Any]]:
    """What was told of each step."""
    events = [json.loads(line) for line in (folder / name / "events.jsonl").read_text().splitlines()]
    return [event for event in events if event["event"] == "StepLearned"]


def seconds(folder: Path, name: str) -> float:
    """Median of the learner's own time, without the first step, whose memory is empty."""
    steps = [event["seconds"] for event in learned(folder, name)[1:]]
    return statistics.median(sum(value for key, value in one.items() if key != "stream") for one in steps)


def weights(folder: Path, name: str) -> torch.Tensor:
    """Of the slow learner at the end, in one line."""
    state = torch.load(folder / name / "checkpoints" / "step_00005.pt", weights_only=True)["learner"]["slow"]["weights"]
    return torch.cat([value.flatten() for value in state.values() if value.is_floating_point()])


def apart(folder: Path, one: str, two: str) -> dict[str, float]:
    """How far two runs are from each other."""
    first, other = (learned(folder, name)[0]["losses"] for name in (one, two))
    return {
        "largest relative difference of a loss at the first step": max(
            abs(first[key] - other[key]) / max(abs(first[key]), 1e-6) for key in first
        ),
        "mean difference of a weight after 6 steps": float((weights(folder, one) - weights(folder, two)).abs().mean()),
    }


def main() -> None:
    """Print and write."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run(folder, "one")
        run(folder, "two", launcher=("torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"))
        run(folder, "threads", "--threads", "2", threads=2)
        figures = {
            "source": read_source_state(Path(__file__).parents[1] / "src" / "leocod"),
            "settings": SETTINGS,
            "one process (s a step)": round(seconds(folder, "one"), 2),
            "two processes (s a step)": round(seconds(folder, "two"), 2),
            "ratio": round(seconds(folder, "one") / seconds(folder, "two"), 2),
            "two processes against one": apart(folder, "one", "two"),
            "two threads against one": apart(folder, "one", "threads"),
        }
    text = json.dumps(figures, indent=1)
    (RESULTS / "two_processes.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
