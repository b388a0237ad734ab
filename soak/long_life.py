"""A long life: 20,000 steps of the smallest world. Memory, files, threads and step time must stay, disk be bounded.

Measured from inside by a reader of events, while everything that a run writes is written.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import leocod
from leocod.events import Event, StepFinished
from leocod.run.config import load_config
from leocod.run.environment import read_source_state
from leocod.run.layers import parse_override
from leocod.run.session import run_experiment
from leocod.sinks.base import BaseSink

SMALLEST = (
    "benchmark={name: wander, width: 32, height: 32, frames_per_step: 4, classes: 2, places: 2, instances: 2}",
    "detector={name: tiny, short_side: 32, regions: 8, proposals: 8}",
    "strategy={name: icarl, replay_per_step: 4}",
    "labels.per_step=1",
    "evaluate.every=500",
    "evaluate.frames=20",
    "checkpoint.every=100",
    "record={detections: 5, pack_events_every: 2000}",
    "threads=1",
)
EVERY = 100


class Vitals(BaseSink):
    """How large and how fast this process is, now and then."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.seen: list[dict[str, float]] = []
        self.seconds: list[float] = []
        self._last = time.perf_counter()

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepFinished):
            now = time.perf_counter()
            self.seconds.append(now - self._last)
            if (event.step + 1) % EVERY == 0:
                gc.collect()
                self.seen.append({"step": event.step + 1, **vitals(), "disk": size_of(self.run)})
            # What it takes to look is not the run's.
            self._last = time.perf_counter()


def vitals() -> dict[str, float]:
    """Memory in MB, open files, threads, as the system counts them."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "memory": int(status["VmRSS"].split()[0]) / 1024,
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": int(status["Threads"]),
    }


def size_of(folder: Path) -> float:
    """In MB."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def by_part(folder: Path) -> dict[str, float]:
    """MB of each file and folder of a run."""
    return {
        one.name: round(size_of(one) if one.is_dir() else one.stat().st_size / 1e6, 3)
        for one in sorted(folder.iterdir())
    }


def judged(found: Vitals, steps: int) -> dict[str, Any]:
    """The figures that are promised."""
    by_step = {int(one["step"]): one for one in found.seen}
    early, late = by_step[min(1000, steps // 2)], found.seen[-1]
    block = min(1000, steps // 4)
    # Not the very first, in which everything is allocated for the first time.
    first, last = found.seconds[EVERY : EVERY + block], found.seconds[-block:]
    return {
        "memory after 1,000 steps and at the end, MB": [round(early["memory"], 1), round(late["memory"], 1)],
        "open files": [early["files"], late["files"]],
        "threads": [early["threads"], late["threads"]],
        "median step of the first and the last thousand, ms": [round(1e3 * median(one), 2) for one in (first, last)],
        "ratio": round(median(last) / median(first), 3),
        "disk, MB": [round(early["disk"], 1), round(late["disk"], 1)],
    }


def main() -> None:
    """Live, measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--home", type=Path, default=Path("runs/soak/long_life"), help="where the run goes")
    parser.add_argument("--out", type=Path, default=Path("results/soak/long_life.json"))
    options = parser.parse_args()
    layers = [parse_override(text) for text in (*SMALLEST, f"benchmark.steps={options.steps}")]
    found = Vitals(options.home)
    results = run_experiment(load_config(None, layers), options.home, [found])
    figures = judged(found, options.steps)
    about = {"command": ["python", "soak/long_life.py", *sys.argv[1:]], "config": list(SMALLEST)}
    content = {
        "steps": options.steps,
        **figures,
        "disk by part, MB": by_part(options.home),
        "seconds": None if results is None else results.seconds,
        **about,
        "source": read_source_state(Path(leocod.__file__).parent),
        "seen": [{name: round(value, 1) for name, value in one.items()} for one in found.seen],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(content, indent=1) + "\n")
    for name, value in figures.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
