"""SIGKILL at random moments, and in the middle of a checkpoint: is every resumed run the same as an undisturbed one?

Each run is killed a few times in a row, resumed each time, and then left to end. After every kill, all files under
their real names must be whole. Runs are forked from a process that has imported everything, so that a kill seldom hits
an import; some are started cold all the same.
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
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from digests import digests
from whole import whole

import leocod
from leocod.run.environment import read_source_state

WORLD = (
    *("--set", "benchmark.width=64", "--set", "benchmark.height=48", "--set", "detector.short_side=48"),
    *("--set", "checkpoint.every=2", "--evaluate-every", "8", "--threads", "1"),
)
IN_A_ROW = 6
"""Kills of one run before it may end."""
COLD = 0.1
"""Share of processes that are started from nothing."""
AIMED = 0.4
"""Share of kills that wait for a checkpoint to be written, and strike then."""


@dataclass
class Tally:
    """What was seen."""

    kills: int = 0
    same: int = 0
    """Kills of runs that ended the same as the undisturbed one."""
    moments: Counter[str] = field(default_factory=Counter)
    """Where a kill struck."""
    not_whole: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)


class Process:
    """A run of the command line, forked or cold."""

    def __init__(self, arguments: list[str], log: Path, *, cold: bool) -> None:
        self.log = log
        if cold:
            with log.open("ab") as file:
                self.pid = subprocess.Popen([sys.executable, "-m", "leocod", *arguments], stdout=file, stderr=file).pid
        else:
            self.pid = os.fork() or _be(arguments, log)

    def wait(self, seconds: float | None) -> int | None:
        """How it ended; None while it has not, after so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            done, status = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            if end is not None and time.monotonic() > end:
                return None
            time.sleep(0.001)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _be(arguments: list[str], log: Path) -> int:
    """In the forked process: run the command line, and end."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = ["leocod", *arguments]
    from leocod.cli.main import app

    code = 1
    try:
        app(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        os._exit(code)


def command(run: Path, own: list[str]) -> list[str]:
    """Go on if there is something to go on with; else begin."""
    return ["run", "--resume", str(run)] if (run / "config.yaml").exists() else ["run", *own, "--out", str(run)]


def strike(process: Process, run: Path, draw: random.Random, *, longest: float) -> str | None:
    """Kill it at a random moment; where that was, or None if it had ended before."""
    # Early, so that a run is killed several times before it ends.
    moment = draw.uniform(0, longest / 3)
    if process.wait(moment) is not None:
        return None
    if draw.random() < AIMED:
        until = time.monotonic() + longest
        # A checkpoint is on its way for some 20 to 40 ms: strike anywhere in that.
        while not list((run / "checkpoints").glob(".*.part")) and time.monotonic() < until:
            if process.wait(0.0005) is not None:
                return None
        if process.wait(draw.uniform(0, 0.04)) is not None:
            return None
    process.kill()
    if list((run / "checkpoints").glob(".*.part")):
        return "in a checkpoint"
    if list(run.rglob(".*.part")):
        return "in another file"
    if not (run / "config.yaml").exists():
        return "before there was a run"
    if not (run / "checkpoints").exists():
        return "before the first checkpoint"
    return "after the last step" if (run / "results.json").exists() else "between or in steps"


def soak(strategy: str, kills: int, home: Path, *, steps: int, seed: int) -> Tally:
    """Kill so many times, and compare."""
    draw = random.Random(f"{strategy} {seed}")
    own = ["--strategy", strategy, "--efficient-cls", "--steps", str(steps), *WORLD]
    undisturbed = home / f"{strategy}-undisturbed"
    began = time.monotonic()
    if Process(["run", *own, "--out", str(undisturbed)], home / f"{strategy}.log", cold=False).wait(None):
        raise SystemExit((home / f"{strategy}.log").read_text())
    longest = time.monotonic() - began
    expected = digests(undisturbed)
    tally = Tally()
    while tally.kills < kills:
        number = tally.kills
        run, log = home / f"{strategy}-{number}", home / f"{strategy}-{number}.log"
        struck = 0
        while struck < IN_A_ROW and tally.kills < kills:
            process = Process(command(run, own), log, cold=draw.random() < COLD)
            where = strike(process, run, draw, longest=longest)
            if where is None:
                break
            struck, tally.kills = struck + 1, tally.kills + 1
            tally.moments[where] += 1
            tally.not_whole += [f"{run.name}: {what}" for what in whole(run)]
        last = Process(command(run, own), log, cold=False).wait(None)
        found = digests(run) if last == 0 else {}
        differing = [name for name in expected if found.get(name) != expected[name]]
        if differing or whole(run) or list(run.rglob(".*.part")):
            tally.different.append(f"{run.name}: exit code {last}, {', '.join(differing)}")
        else:
            tally.same += struck
        if "Traceback" in log.read_text(errors="replace"):
            tally.tracebacks.append(run.name)
        if not differing and run.name not in tally.tracebacks:
            shutil.rmtree(run)
        print(f"{strategy}: {tally.same} of {tally.kills} the same, {dict(tally.moments)}", flush=True)
    return tally


def main() -> None:
    """Both strategies at the same time, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategies", nargs="+", default=["icarl", "derpp"])
    parser.add_argument("--kills", type=int, default=200, help="of each strategy")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--home", type=Path, default=Path("runs/soak/kills"), help="where the runs go")
    parser.add_argument("--out", type=Path, default=Path("results/soak/kills.json"))
    options = parser.parse_args()
    if options.home.exists():
        raise SystemExit(f"{options.home} is there already. Remove it first.")
    options.home.mkdir(parents=True)
    # Imported once, for all that are forked.
    import_module("leocod.run.session")
    import_module("leocod.sinks.console")

    waiting: list[int] = []
    for strategy in options.strategies:
        # One process each, so that they go at the same time.
        if not (child := os.fork()):
            tally = soak(strategy, options.kills, options.home, steps=options.steps, seed=options.seed)
            (options.home / f"{strategy}.json").write_text(json.dumps(vars(tally)))
            os._exit(0)
        waiting.append(child)
    for child in waiting:
        os.waitpid(child, 0)
    found: dict[str, Any] = {
        strategy: json.loads((options.home / f"{strategy}.json").read_text()) for strategy in options.strategies
    }
    about = {
        "command": ["python", "soak/kills.py", *sys.argv[1:]],
        "source": read_source_state(Path(leocod.__file__).parent),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"strategies": found, "world": list(WORLD), **about}, indent=1) + "\n")
    for strategy, tally in found.items():
        print(f"{strategy} + Efficient-CLS: {tally['same']} of {tally['kills']} kills resumed to the same results")
        print(f"  where: {tally['moments']}")
        print(f"  files not whole: {len(tally['not_whole'])}, tracebacks: {len(tally['tracebacks'])}")
    if any(tally["same"] < tally["kills"] or tally["not_whole"] or tally["tracebacks"] for tally in found.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
