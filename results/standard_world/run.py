"""Run every cell of the standard world's first table, and write the table.

    .venv/bin/python results/standard_world/run.py --jobs 2      runs what is not there yet, then writes the table
    .venv/bin/python results/standard_world/run.py --table       only writes table.md and runs.json

From the root of the repository. Every cell is one `leocod run` with a directory of its own under runs/; a finished one
is not run again.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
RUNS = Path("runs") / "standard_world"
SEEDS = (0, 1, 2)
COSTS = {16: "100 %", 4: "25 %", 2: "12.5 %", 1: "6.25 %"}
ROWS = {
    "starting weights": ["--strategy", "incremental", "--no-efficient-cls"],
    "offline, 2 epochs": ["--strategy", "offline", "--no-efficient-cls"],
    "incremental": ["--strategy", "incremental", "--no-efficient-cls"],
    "icarl": ["--no-efficient-cls"],
    "icarl + EMA only": ["--set", "efficient_cls.pseudo_labels=false"],
    "icarl + pseudo labels only": ["--set", "efficient_cls.ema=false"],
    "icarl + Efficient-CLS": [],
    "diagnosis: true boxes as pseudo labels": ["--set", "diagnosis=true_boxes"],
}
NEEDS_UNLABELLED = ("icarl + pseudo labels only", "icarl + Efficient-CLS", "diagnosis: true boxes as pseudo labels")
BUDGETS = {"starting weights": (0,), "offline, 2 epochs": (16,), "icarl": (16, 4, 2, 1)}
"""Labels a step in a row's cells, where they are not 16, 4 and 1. At 12.5 % only the world's profile is of interest."""


@dataclass(frozen=True)
class Cell:
    """One run: a row of the table at one cost with one seed."""

    row: str
    labels: int
    seed: int

    @property
    def out(self) -> Path:
        name = self.row.replace(": ", "-").replace(" + ", "+").replace(", ", "-").replace(" ", "_")
        return RUNS / f"{name}-{self.labels}of16-seed{self.seed}"

    @property
    def command(self) -> list[str]:
        return [
            *("leocod", "run", "configs/standard.yaml", "--labels", str(self.labels), "--seed", str(self.seed)),
            *("--threads", "1", *ROWS[self.row], "--out", str(self.out)),
        ]

    @property
    def done(self) -> bool:
        return (self.out / "results.json").is_file()


def cells() -> Iterator[Cell]:
    """Every cell, seed by seed, so that a broken-off table has whole seeds in it."""
    for seed in SEEDS:
        for row in ROWS:
            for labels in BUDGETS.get(row, (16, 4, 1)):
                if not (labels == 16 and row in NEEDS_UNLABELLED):
                    yield Cell(row, labels, seed)


def run(cell: Cell) -> bool:
    """Run a cell in a process of its own; an unfinished one starts anew. Whether it went well."""
    if cell.out.exists():
        shutil.rmtree(cell.out)
    program = Path(sys.executable).with_name("leocod")
    done = subprocess.run([program, *cell.command[1:]], capture_output=True, text=True)
    print(f"{cell.out.name}: {'done' if done.returncode == 0 else done.stderr[-500:]}", flush=True)
    return done.returncode == 0


def table() -> str:
    """Mean, and half the distance from the smallest to the largest, over the seeds that are there."""
    lines = ["| labels | | FAP | CAP | F | seeds | minutes a run |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for labels, row in sorted(dict.fromkeys((cell.labels, cell.row) for cell in cells()), key=_place):
        found = [result(cell) for cell in cells() if (cell.labels, cell.row) == (labels, row) and cell.done]
        if found:
            figures = " | ".join(spread([one[key] for one in found]) for key in ("fap", "cap", "forgetfulness"))
            minutes = np.mean([one["seconds"] for one in found]) / 60
            lines.append(f"| {COSTS.get(labels, 'none')} | {row} | {figures} | {len(found)} | {minutes:.1f} |")
    return "\n".join(lines) + "\n"


def _place(line: tuple[int, str]) -> tuple[int, int]:
    """Where a line stands: the same labels together, most labels first; the start and offline on top."""
    labels, row = line
    alone = row in ("starting weights", "offline, 2 epochs")
    return (0 if alone else 1 + list(COSTS).index(labels), list(ROWS).index(row))


def result(cell: Cell) -> dict[str, float | None]:
    """What a finished cell found."""
    content: dict[str, float | None] = json.loads((cell.out / "results.json").read_text())
    return content


def spread(values: list[float | None]) -> str:
    """Mean and spread of what is known."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    # Adding zero turns -0.0 into 0.0.
    mean = f"{round(float(np.mean(known)), 1) + 0:.1f}"
    return f"{mean} ± {(max(known) - min(known)) / 2:.1f}" if len(known) > 1 else mean


def records() -> list[dict[str, object]]:
    """The figures of every finished cell with its command and commit."""
    kept = ("fap", "cap", "forgetfulness", "labelled_frames", "seconds", "memory_bytes")
    found = []
    for cell in cells():
        if cell.done:
            about = json.loads((cell.out / "environment.json").read_text())
            figures = {key: value for key, value in result(cell).items() if key in kept}
            about = {"row": cell.row, "command": shlex.join(cell.command), "source": about["source"]}
            found.append(about | figures | {"pseudo_labels": audit(cell)})
    return found


def audit(cell: Cell) -> dict[str, int] | None:
    """The pseudo labels of a run by the hidden truth, added up over all steps; None where there were none."""
    events = [json.loads(line) for line in (cell.out / "events.jsonl").read_text().splitlines()]
    audits = [event["audit"] for event in events if event["event"] == "StepLearned" and event["audit"]]
    if not audits:
        return None
    return {key: sum(one[key] for one in audits) for key in ("frames", "labels", "right", "objects")}


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    went_well = True
    if not options.table:
        with ThreadPoolExecutor(options.jobs) as pool:
            went_well = all(list(pool.map(run, [cell for cell in cells() if not cell.done])))
    there = HERE / "runs.json"
    if there.exists() and len(records()) < len(json.loads(there.read_text())):
        sys.exit(f"{there} holds more runs than there are in {RUNS}: left as it is.")
    (HERE / "table.md").write_text(table())
    there.write_text(json.dumps(records(), indent=1) + "\n")
    print(table())
    sys.exit(not went_well)


if __name__ == "__main__":
    main()
