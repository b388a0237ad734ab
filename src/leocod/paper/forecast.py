"""What would run, and how long it takes: from cells that have finished, and of other kinds from short runs."""

from __future__ import annotations

import hashlib
import heapq
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from leocod.files.atomic import write_json
from leocod.files.checkpoint import ENDING
from leocod.files.run_directory import list_numbered
from leocod.paper.cells import Cell, State
from leocod.paper.pace import Pace, measure
from leocod.paper.plan import Plan
from leocod.run.config import ExperimentConfig
from leocod.run.environment import describe_environment
from leocod.settings import Settings

SAME = ("leocod", "python", "torch", "torchvision", "numpy", "platform", "machine", "cpus", "threads")
"""What has to be as it was, of all that environment.json tells, for a time to be that of today."""


class StepTimes(Settings):
    """What step_times.json says."""

    circumstances: dict[str, str | int | None]
    """The machine, the versions, and how many cells ran at a time."""
    paces: dict[str, Pace] = Field(default_factory=dict)
    """By the kind of cell."""


class Expected(NamedTuple):
    """A cell, and the seconds that it will take from now on."""

    cell: Cell
    state: State
    seconds: float


@dataclass(frozen=True)
class Forecast:
    """Every cell of a plan in the order in which they start, and how many of them run at a time."""

    cells: Sequence[Expected]
    jobs: int

    @property
    def seconds(self) -> float:
        """Until all of them have ended."""
        return queued([one.seconds for one in self.cells if one.state != "finished"], self.jobs)


@dataclass(frozen=True)
class Durations:
    """Seconds that cells take, as far as anything is known about it."""

    learning: Mapping[str, float] = field(default_factory=dict)
    """By kind: from the first step to the last, evaluations included."""
    around: float | None = None
    """Start and end of a process, which hardly depend on the kind. None: nobody has measured."""

    def of(self, cell: Cell, done: float = 0.0) -> float | None:
        """What is left of a cell of which a part is done; None for a kind that is not known."""
        learning = self.learning.get(kind(cell.config))
        return None if learning is None else (self.around or 0.0) + (1 - done) * learning


def forecast(plan: Plan, *, jobs: int, threads: int, tell: Callable[[str], None] = lambda _: None) -> Forecast:
    """How long the rest of a plan takes. Kinds of cells of which nothing is known are tried out, which is told."""
    cells = plan.cells
    states = {cell.name: cell.state for cell in cells}
    first: dict[str, Cell] = {}
    for cell in cells:
        if states[cell.name] != "finished":
            first.setdefault(kind(cell.config), cell)
    durations = durations_of(plan.out, cells, jobs=jobs, threads=threads)
    unknown = [cell for name, cell in first.items() if name not in durations.learning]
    if not unknown and durations.around is None:
        # Cells that have finished do not tell how long their processes took to start.
        unknown = list(first.values())[:1]
    if unknown:
        tell(f"Kinds of cells that are tried for a few steps: {len(unknown)}, {jobs} at a time.")
        _measure(plan, unknown, jobs=jobs, threads=threads, tell=tell)
        durations = durations_of(plan.out, cells, jobs=jobs, threads=threads)
    expected = []
    for cell in cells:
        left = 0.0 if states[cell.name] == "finished" else durations.of(cell, _saved(cell))
        assert left is not None
        expected.append(Expected(cell, states[cell.name], left))
    return Forecast(expected, jobs)


class TimeLeft:
    """Answers how long the rest of a plan takes, again and again: finished cells are read when there is one more."""

    def __init__(self, plan: Plan, *, jobs: int, threads: int) -> None:
        self.plan = plan
        self.jobs = jobs
        self.threads = threads
        self._durations = Durations()
        self._left: int | None = None

    def __call__(self, rest: Sequence[Cell]) -> float | None:
        """`rest`: cells that are being run, or will be."""
        if self._left != len(rest):
            self._left = len(rest)
            self._durations = durations_of(self.plan.out, self.plan.cells, jobs=self.jobs, threads=self.threads)
        return time_left(rest, self._durations, jobs=self.jobs)


def time_left(cells: Iterable[Cell], durations: Durations, *, jobs: int) -> float | None:
    """Seconds until cells that are being run have ended, without measuring anything; None while nothing is known.

    A kind that is not known is taken to last as long as its own first steps say, or else as long as the others.
    """
    rest = [cell for cell in cells if cell.state != "finished"]
    done = {cell.name: _learnt(cell) for cell in rest}
    learning = dict(durations.learning)
    for cell in rest:
        if kind(cell.config) not in learning and (so_far := _so_far(cell)) is not None:
            learning[kind(cell.config)] = so_far
    if not learning:
        return 0.0 if not rest else None
    usual = mean(learning.values())
    around = durations.around or 0.0
    # One that has begun has most of its start behind it.
    seconds = [(1 - done[cell.name]) * (around + learning.get(kind(cell.config), usual)) for cell in rest]
    return queued(seconds, jobs)


def durations_of(out: Path, cells: Iterable[Cell], *, jobs: int, threads: int) -> Durations:
    """What is known: from the cells of a folder that have finished as they would today, and from what was measured."""
    now = _circumstances(jobs, threads)
    paces = _stored(out, now).paces
    seconds: dict[str, list[float]] = defaultdict(list)
    # Where cells had to share a CPU, how many ran at a time matters, and none of them tells.
    alone = jobs * threads <= (os.cpu_count() or 1)
    for cell in cells if alone else ():
        if (results := cell.results) is not None and _as_today(cell, now):
            seconds[kind(cell.config)].append(results.seconds)
    learning = {name: pace.learning for name, pace in paces.items()} | {
        name: mean(all_) for name, all_ in seconds.items()
    }
    return Durations(learning, mean(pace.around for pace in paces.values()) if paces else None)


def kind(config: ExperimentConfig) -> str:
    """The same for cells that take the same time: those that differ in their seeds only."""
    values = config.model_dump(mode="json")
    values |= {"seed": None, "labels": values["labels"] | {"seed": None}, "threads": None}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def queued(seconds: Iterable[float], jobs: int) -> float:
    """When the last one ends, if so many run at a time and each starts as soon as another one has ended.

    >>> queued([3, 1, 1, 4], jobs=2)
    6.0
    """
    free = [0.0] * jobs
    for one in seconds:
        heapq.heapreplace(free, free[0] + one)
    return max(free)


def _measure(plan: Plan, cells: Sequence[Cell], *, jobs: int, threads: int, tell: Callable[[str], None]) -> None:
    now = _circumstances(jobs, threads)
    paces = dict(_stored(plan.out, now).paces)
    plan.out.mkdir(parents=True, exist_ok=True)
    logs = plan.logs / "timing"
    for cell, pace in measure(cells, jobs=jobs, threads=threads, out=plan.out, logs=logs, tell=tell):
        paces[kind(cell.config)] = pace
        # At once: what has been measured is not lost when the rest is broken off.
        content = StepTimes(circumstances=now, paces=paces).model_dump(mode="json")
        write_json(_file(plan.out), content, indent=2)


def _stored(out: Path, now: Mapping[str, str | int | None]) -> StepTimes:
    """What was measured under the same circumstances; a file that cannot be read is as good as none."""
    try:
        stored = StepTimes.model_validate_json(_file(out).read_bytes())
    except (OSError, ValidationError):
        return StepTimes(circumstances=dict(now))
    return stored if stored.circumstances == now else StepTimes(circumstances=dict(now))


def _file(out: Path) -> Path:
    return out / "step_times.json"


def _circumstances(jobs: int, threads: int) -> dict[str, str | int | None]:
    today = describe_environment(threads=threads, device="", command=())
    return {"jobs": jobs, **{key: today[key] for key in SAME}}


def _as_today(cell: Cell, now: Mapping[str, Any]) -> bool:
    about = cell.environment
    return all(then.get(key) == now[key] for then in (about, *about.get("resumed", [])) for key in SAME)


def _learnt(cell: Cell) -> float:
    """Which part of a cell its log says is done."""
    return _share(cell, cell.steps_done[0])


def _saved(cell: Cell) -> float:
    """The part after which a cell that was broken off goes on."""
    saved = list_numbered(cell.directory.checkpoints, "step_", ENDING)
    return _share(cell, saved[-1][0] + 1) if saved else 0.0


def _share(cell: Cell, steps: int) -> float:
    total = cell.steps_done[1]
    return min(1.0, steps / total) if total else 0.0


def _so_far(cell: Cell) -> float | None:
    """Seconds that a whole cell takes if it goes on as it has since it was started last; None before its first step."""
    about = cell.environment
    last = (about.get("resumed") or [about])[-1]
    learnt = _learnt(cell) - _share(cell, last.get("from_step", 0))
    if learnt <= 0 or "started" not in last:
        return None
    spent = cell.directory.events.stat().st_mtime - datetime.fromisoformat(last["started"]).timestamp()
    return spent / learnt if spent > 0 else None
