"""A step on a machine that is busy: one thread, two that wait asleep (what `leocod` does), two that wait by spinning.

    .venv/bin/python bench/busy_machine.py

Beside it run as many busy loops as there are processors, which this script starts and ends itself.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import arguments, record, table

SPINNING = {"GOMP_SPINCOUNT": "300000"}
"""How GNU's OpenMP waits when nobody says otherwise, by its manual."""

SIDES: Mapping[str, tuple[int, Mapping[str, str]]] = {
    "one thread": (1, {}),
    "two threads, asleep while they wait": (2, {}),
    "two threads, spinning while they wait": (2, SPINNING),
}


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many processors busy."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure(folder: Path, threads: int, environment: Mapping[str, str], steps: int) -> float:
    """Seconds of a step: the median over a short run, without drawing the frames."""
    settings = (f"benchmark.steps={steps}", "evaluate.frames=1", f"threads={threads}")
    command = [sys.executable, "-m", "leocod", "run", *(part for key in settings for part in ("--set", key))]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_", "KMP_"))}
    subprocess.run([*command, "--out", str(folder)], check=True, capture_output=True, env=inherited | environment)
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    learnt = [event["seconds"] for event in events if event["event"] == "StepLearned"]
    return statistics.median(sum(value for key, value in one.items() if key != "stream") for one in learnt)


def main() -> None:
    """Measure every side beside the same load."""
    options = arguments(__doc__, steps=2, loops=os.cpu_count() or 1)
    with TemporaryDirectory() as home, busy(options.loops):
        seconds = {
            name: measure(Path(home) / str(number), threads, environment, options.steps)
            for number, (name, (threads, environment)) in enumerate(SIDES.items())
        }
    first = next(iter(seconds.values()))
    print(
        table(
            ["threads", "a step, s", "over one thread"],
            [[n, f"{s:.2f}", f"{s / first:.1f}"] for n, s in seconds.items()],
        )
    )
    spinning, asleep = seconds["two threads, spinning while they wait"], seconds["two threads, asleep while they wait"]
    print(f"\nRatio: spinning takes {spinning / asleep:.2f} times as long as sleeping.")
    record(options, {"seconds": seconds, "busy_loops": options.loops, "steps": options.steps})


if __name__ == "__main__":
    main()
