"""Run every cell of a table and write the table.

    .venv/bin/python results/run.py standard_world --jobs 2      runs what is not there yet, then writes the table
    .venv/bin/python results/run.py standard_world --table       only writes table.md and runs.json

From the root of the repository. The rows stand in results/<table>/rows.yaml. Every cell is one `leocod run` with a
directory of its own under runs/; a finished one is not run again, nor one that runs.json has.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from leocod.report.reading import Run

Result = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One run: a row of the table at one cost with one seed."""

    table: str
    row: str
    arguments: str
    labels: int
    seed: int
    config: str

    @property
    def out(self) -> Path:
        name = self.row.replace(": ", "-").replace(" + ", "+").replace(", ", "-").replace(" ", "_")
        return Path("runs") / self.table / f"{name}-{self.labels}of16-seed{self.seed}"

    @property
    def command(self) -> list[str]:
        return [
            *("leocod", "run", self.config, "--labels", str(self.labels), "--seed", str(self.seed)),
            *("--threads", "1", *shlex.split(self.arguments), "--out", str(self.out)),
        ]

    @property
    def done(self) -> bool:
        """Whether it has been run to the end, and by this command: the last thing that a run writes is its report."""
        return (self.out / "report.html").is_file() and self._about["command"] == self.command

    @property
    def _about(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.out / "environment.json").read_text())
        return content

    @property
    def result(self) -> Result:
        """What the finished run found."""
        content: Result = json.loads((self.out / "results.json").read_text())
        return content

    def run(self) -> bool:
        """In a process of its own; an unfinished one starts anew. Whether it went well."""
        if self.out.exists():
            shutil.rmtree(self.out)
        program = Path(sys.executable).with_name("leocod")
        done = subprocess.run([program, *self.command[1:]], capture_output=True, text=True)
        print(f"{self.out.name}: {'done' if done.returncode == 0 else done.stderr[-500:]}", flush=True)
        return done.returncode == 0

    def record(self) -> Result:
        """The figures with their command and commit."""
        kept = ("fap", "cap", "forgetfulness", "labelled_frames", "seconds", "memory_bytes")
        figures = {key: value for key, value in self.result.items() if key in kept}
        about = {"row": self.row, "command": shlex.join(self._about["command"]), "source": self._about["source"]}
        return about | figures | {"pseudo_labels": self.audit()}

    def audit(self) -> dict[str, int] | None:
        """The run's pseudo labels by the hidden truth, added up over all steps; None where there were none."""
        run = Run.load(self.out)
        return asdict(run.audit) if run.audits else None


class Table:
    """What results/<name>/rows.yaml asks for."""

    def __init__(self, name: str) -> None:
        self.home = Path(__file__).parent / name
        self.asked = yaml.safe_load((self.home / "rows.yaml").read_text())
        self.recorded = self.home / "runs.json"
        before = json.loads(self.recorded.read_text()) if self.recorded.exists() else []
        self._before: dict[str, Result] = {record["command"]: record for record in before}
        # Seed by seed, so that a broken-off table has whole seeds in it.
        self.cells = [
            Cell(name, row["name"], row["arguments"], labels, seed, self.asked.get("config", "configs/standard.yaml"))
            for seed in self.asked["seeds"]
            for row in self.asked["rows"]
            if seed in row.get("seeds", self.asked["seeds"])
            for labels in row["labels"]
        ]

    @property
    def to_run(self) -> list[Cell]:
        """Those that neither runs/ nor runs.json has."""
        return [cell for cell in self.cells if not cell.done and shlex.join(cell.command) not in self._before]

    @cached_property
    def records(self) -> dict[Cell, Result]:
        """What was found, when nothing is run any more: by the run or, where that was cleared away, by runs.json."""
        found = (
            (cell, cell.record() if cell.done else self._before.get(shlex.join(cell.command))) for cell in self.cells
        )
        return {cell: record for cell, record in found if record}

    def found(self, row: str, labels: int) -> dict[int, Result]:
        """Seed -> what was found, of the runs that are there."""
        return {cell.seed: one for cell, one in self.records.items() if (cell.row, cell.labels) == (row, labels)}

    def figures(self) -> str:
        """Mean, and half the distance from the smallest to the largest, over the seeds that are there."""
        lines = ["| labels | | FAP | CAP | F | seeds | minutes a run |", "| --- | --- | --- | --- | --- | --- | --- |"]
        for labels, row in self._lines():
            found = list(self.found(row, labels).values())
            if found:
                figures = " | ".join(spread([one[key] for one in found]) for key in ("fap", "cap", "forgetfulness"))
                minutes = np.mean([one["seconds"] for one in found]) / 60
                lines.append(f"| {cost(labels)} | {row} | {figures} | {len(found)} | {minutes:.1f} |")
        return "\n".join(lines) + "\n"

    def comparisons(self) -> str:
        """What a row has over another, seed by seed, for the pairs that rows.yaml asks for.

        A pair is [row, other row, labels], and the other's labels if they are not the same.
        """
        lines = ["| labels | | over | FAP | CAP |", "| --- | --- | --- | --- | --- |"]
        for one, other, labels, *elsewhere in self.asked.get("comparisons", ()):
            mine, theirs = self.found(one, labels), self.found(other, *(elsewhere or [labels]))
            seeds = sorted(mine.keys() & theirs.keys())
            if seeds:
                gains = [difference([mine[s][key] - theirs[s][key] for s in seeds]) for key in ("fap", "cap")]
                theirs_at = "".join(f" at {cost(at)}" for at in elsewhere)
                lines.append(f"| {cost(labels)} | {one} | {other}{theirs_at} | {' | '.join(gains)} |")
        return "\n".join(lines) + "\n" if len(lines) > 2 else ""

    def _lines(self) -> list[tuple[int, str]]:
        """The same labels together, most labels first, rows that stand alone on top; else as in rows.yaml."""
        alone = {row["name"] for row in self.asked["rows"] if row.get("alone")}
        lines = dict.fromkeys((cell.labels, cell.row) for cell in self.cells)
        return sorted(lines, key=lambda line: (0, 0) if line[1] in alone else (1, -line[0]))

    def write(self) -> str:
        """table.md and runs.json."""
        records = list(self.records.values())
        text = "\n".join(part for part in (self.figures(), self.comparisons(), sources(records)) if part)
        (self.home / "table.md").write_text(text)
        self.recorded.write_text(json.dumps(records, indent=1) + "\n")
        return text


def sources(records: list[Result]) -> str:
    """With what code the runs were made: one line, or a table of several codes would pass for one of one."""
    found = dict.fromkeys(
        f"{one['source']['commit'][:7]}{' with changes' if one['source'].get('changed') else ''}" for one in records
    )
    return f"Mean ± half the range over the seeds. Made with commit {', '.join(found)}.\n" if found else ""


def cost(labels: int) -> str:
    """Labels a step as annotation cost."""
    return f"{100 * labels / 16:g} %" if labels else "none"


def spread(values: list[float | None]) -> str:
    """Mean and spread of what is known."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    # Adding zero turns -0.0 into 0.0.
    mean = f"{round(float(np.mean(known)), 1) + 0:.1f}"
    return f"{mean} ± {(max(known) - min(known)) / 2:.1f}" if len(known) > 1 else mean


def difference(values: list[float]) -> str:
    """Mean, and the value of every seed."""
    return f"{np.mean(values):+.1f} ({', '.join(f'{value:+.1f}' for value in values)})"


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="a folder of results/")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    table = Table(options.name)
    went_well = True
    if not options.table:
        with ThreadPoolExecutor(options.jobs) as pool:
            went_well = all(list(pool.map(Cell.run, table.to_run)))
    print(table.write())
    sys.exit(not went_well)


if __name__ == "__main__":
    main()
