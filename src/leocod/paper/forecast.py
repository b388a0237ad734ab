"""How long cells take: as long as finished cells of the same kind. Nothing is run or measured for it."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import mean, median

from leocod.paper.cells import Cell
from leocod.paper.plan import STANDARD, Plan
from leocod.paper.record import read_environment
from leocod.run.config import find_changes, load_mapping
from leocod.run.environment import describe_environment

SAME = ("machine", "cpus", "threads")
"""Keys of environment.json that must be the same for a cell to take the same time."""

PUBLISHED = 0.43
"""Seconds of a step of the standard world, on average over the 66 runs of Table 1 in results/paper."""


class Forecast:
    """Tells how long the rest of a plan takes. Reads the finished cells again when the number of cells left changes."""

    def __init__(self, plan: Plan, *, jobs: int, threads: int) -> None:
        self.plan = plan
        self.jobs = jobs
        environment = describe_environment(threads=threads, device="", command=())
        self._here = {key: environment[key] for key in SAME}
        self._times: dict[str, float] = {}
        self._cells_left: int | None = None
        self.basis = ""
        """What the times are taken from."""

    def time_left(self, cells: Sequence[Cell]) -> float | None:
        """Seconds until these cells have finished; None while nothing is known."""
        if self._cells_left != len(cells):
            self._cells_left, self._times = len(cells), self._read_times()
        seconds = [self.seconds_left(cell) for cell in cells]
        return None if None in seconds else queue(filter(None, seconds), self.jobs)

    def seconds_left(self, cell: Cell) -> float | None:
        """Seconds that a cell takes from where it is: by its kind, by its own steps so far, or by other kinds."""
        done, steps = cell.steps_done
        share = done / steps if steps else 0.0
        whole = self._times.get(find_kind(cell))
        if whole is None and share and (so_far := _time_so_far(cell)):
            whole = so_far / share
        if whole is None and self._times:
            whole = mean(self._times.values())
        return None if whole is None else (1 - share) * whole

    def _read_times(self) -> dict[str, float]:
        """Kind of cell -> seconds: from cells that finished on this machine, else from other finished cells."""
        here: dict[str, list[float]] = defaultdict(list)
        elsewhere: dict[str, list[float]] = defaultdict(list)
        for cell in self.plan.all_cells:
            if (results := cell.results) is not None:
                (here if self._ran_here(cell) else elsewhere)[find_kind(cell)].append(results.seconds)
            elif cell.earlier is not None and cell.earlier.seconds is not None:
                elsewhere[find_kind(cell)].append(cell.earlier.seconds)
        self.basis = "by finished cells" if here else "by cells that ran elsewhere or with other threads"
        if here or elsewhere:
            # The median: a cell that ran while the machine was busy should not count for the others.
            return {kind: median(seconds) for kind, seconds in (here or elsewhere).items()}
        config = load_mapping(self.plan.base)
        if set(find_changes(load_mapping(STANDARD), config)) - {"benchmark.steps", "seed"}:
            return {}
        self.basis = "by the published runs, which another machine made"
        return {"": PUBLISHED * config.benchmark.options.model_dump()["steps"]}

    def _ran_here(self, cell: Cell) -> bool:
        environment = read_environment(cell.directory)
        starts = (environment, *environment.get("resumed", ()))
        return all(start.get(key) == value for start in starts for key, value in self._here.items())


def find_kind(cell: Cell) -> str:
    """The name of a cell without its seeds: cells of one kind take the same time."""
    return re.sub(r"-seed\d+|-labels\.seed=\d+", "", cell.name)


def queue(seconds: Iterable[float], jobs: int) -> float:
    """When the last cell ends, if each starts as soon as one of so many jobs is free.

    >>> queue([3, 1, 1, 4], jobs=2)
    6.0
    """
    free = [0.0] * jobs
    for duration in seconds:
        heapq.heapreplace(free, free[0] + duration)
    return max(free)


def _time_so_far(cell: Cell) -> float | None:
    """Seconds that a running cell has taken; None if it was resumed, since nobody knows how long it took before."""
    environment = read_environment(cell.directory)
    if environment.get("resumed") or "started" not in environment:
        return None
    spent = cell.directory.events.stat().st_mtime - datetime.fromisoformat(environment["started"]).timestamp()
    return spent if spent > 0 else None
