"""What a run has besides its figures, in NAME-classes.csv and NAME-over-time.csv: figures by class, and AP over time.

Intervals need the classes, and the figure of a table needs the evaluations, also when the run itself is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from leocod.errors import InvalidRun
from leocod.evaluation.history import History
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.evaluation.results import Results
from leocod.paper.sheets import Line, format_csv, read_csv, validate_line
from leocod.report import class_figures
from leocod.report.class_figures import ByClass
from leocod.report.reading import Run
from leocod.settings import Settings

OverTime = dict[int, float]
"""Steps learnt -> mean AP over classes, in points."""


class ClassLine(Settings):
    """One line of NAME-classes.csv."""

    run: str
    name: str = Field(alias="class")
    fap: float | None = None
    cap: float | None = None
    forgetting: float | None = None


class TimeLine(Settings):
    """One line of NAME-over-time.csv."""

    run: str
    steps: int
    ap: float


def measure_by_class(path: Path, results: Results) -> ByClass:
    """FAP, CAP and F of each class. Their means over classes are the figures of the run."""
    return class_figures.measure_by_class(results, lambda: _read_history(path))


def _read_history(path: Path) -> History | None:
    """F, unlike the others, needs to know when each class was there, which the events tell."""
    try:
        return Run.load(path).history
    except InvalidRun:
        return None


def list_evaluations(results: Results) -> OverTime:
    """The mean AP after each evaluation."""
    return {evaluation.step + 1: evaluation.ap for evaluation in results.evaluations if evaluation.ap is not None}


def format_classes(runs: Mapping[str, ByClass]) -> str:
    """The figures of runs by class as CSV, a line for each class of each run."""
    lines: list[dict[str, Any]] = []
    for run, by_class in runs.items():
        for name in dict.fromkeys(name for values in by_class.values() for name in values):
            line: dict[str, Any] = {"run": run, "class": name}
            lines.append(line | {metric: by_class.get(metric, {}).get(name) for metric in PAPER_METRICS})
    return format_csv(lines)


def format_over_time(runs: Mapping[str, OverTime]) -> str:
    """The evaluations of runs as CSV, a line each."""
    values = [(run, steps, ap) for run, over_time in runs.items() for steps, ap in over_time.items()]
    return format_csv([{"run": run, "steps": steps, "ap": ap} for run, steps, ap in values])


def read_classes(file: Path) -> dict[str, ByClass]:
    """Run -> its figures by class."""
    runs: dict[str, ByClass] = defaultdict(dict)
    for line in _read(file, ClassLine):
        for metric in PAPER_METRICS:
            if (value := getattr(line, metric)) is not None:
                runs[line.run].setdefault(metric, {})[line.name] = value
    return dict(runs)


def read_over_time(file: Path) -> dict[str, OverTime]:
    """Run -> its evaluations."""
    runs: dict[str, OverTime] = defaultdict(dict)
    for line in _read(file, TimeLine):
        runs[line.run][line.steps] = line.ap
    return dict(runs)


def name_beside(file: Path, what: str) -> Path:
    """The file of details that belongs to a file of runs: main-runs.csv -> main-classes.csv."""
    start = file.stem.removesuffix("runs") if file.stem.endswith("runs") else f"{file.stem}-"
    return file.with_name(f"{start}{what}.csv")


def _read(file: Path, kind: type[Line]) -> list[Line]:
    """Files of earlier versions have no such file beside them."""
    if not file.exists():
        return []
    return [validate_line(kind, line, file, number) for number, line in enumerate(read_csv(file), 2)]
