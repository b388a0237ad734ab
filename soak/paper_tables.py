"""SIGKILL of `leocod paper` at random moments: do the tables end up as if nothing had happened?

Half of the kills hit the processes of the cells too, as a loss of power would; the other half hit the command alone.
The same command is started again at once, until it ends by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import leocod
from leocod.run.environment import read_source_state

TABLE = "rpn-loss"
WORLD = (
    *("--set", "benchmark.steps=16", "--set", "benchmark.width=64", "--set", "benchmark.height=48"),
    *("--set", "detector.short_side=48", "--set", "checkpoint.every=2", "--set", "evaluate.every=8"),
)
IN_A_ROW = 5
"""Kills of one table before it may end."""
ENDINGS = ("md", "csv", "html")


def build_command(out: Path) -> list[str]:
    """One small table, two cells at a time."""
    return [sys.executable, "-m", "leocod", "paper", TABLE, *WORLD, "--jobs", "2", "--out", str(out)]


def read_tables(out: Path) -> dict[str, bytes]:
    """The written files, byte by byte."""
    return {ending: (out / f"{TABLE}.{ending}").read_bytes() for ending in ENDINGS}


def list_children(process: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def run_with_kills(out: Path, log: Path, draw: random.Random, *, longest: float, most: int = IN_A_ROW) -> list[str]:
    """Start, kill, start again, and after a few kills let it end. Returns what each kill hit."""
    kills: list[str] = []
    while True:
        moment = draw.uniform(0, longest / 2) if len(kills) < most else None
        with log.open("ab") as output:
            process = subprocess.Popen(build_command(out), stdout=output, stderr=output)
        try:
            if process.wait(moment):
                raise SystemExit(log.read_text())
            return kills
        except subprocess.TimeoutExpired:
            cells = list_children(process.pid) if draw.random() < 0.5 else []
            for pid in (process.pid, *cells):
                # A cell may just have ended.
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            begun = len(list((out / "cells").glob("*/config.yaml")))
            ended = len(list((out / "cells").glob("*/report.html")))
            kills.append(f"{'with its cells' if cells else 'alone'}, {begun} cells begun, {ended} finished")


def main() -> None:
    """Kill until there were enough kills, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--home", type=Path, default=Path("runs/soak/paper_tables"), help="where the cells go")
    parser.add_argument("--out", type=Path, default=Path("results/soak/paper_tables.json"))
    options = parser.parse_args()
    if options.home.exists():
        raise SystemExit(f"{options.home} is there already. Remove it first.")
    options.home.mkdir(parents=True)
    began = time.monotonic()
    subprocess.run(build_command(options.home / "undisturbed"), check=True, capture_output=True)
    longest = time.monotonic() - began
    expected = read_tables(options.home / "undisturbed")

    draw = random.Random(options.seed)
    kills: list[str] = []
    different: list[str] = []
    number = 0
    while len(kills) < options.kills:
        out, log = options.home / str(number), options.home / f"{number}.log"
        hits = run_with_kills(out, log, draw, longest=longest)
        kills += hits
        found = read_tables(out)
        different += [f"{number}: {TABLE}.{ending}" for ending in ENDINGS if found[ending] != expected[ending]]
        if not different:
            shutil.rmtree(out)
        print(f"{len(kills)} kills, {number + 1} tables, different: {different or 'none'}", flush=True)
        number += 1
    content = {
        "command": f"python soak/paper_tables.py --kills {options.kills} --seed {options.seed}",
        "source": read_source_state(Path(leocod.__file__).parent),
        "tables": number,
        "kills": kills,
        "different": different,
    }
    options.out.write_text(json.dumps(content, indent=1) + "\n")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
