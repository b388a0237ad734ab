"""A finished run as one line of NAME-runs.csv: written beside each table, and read where the run itself is gone."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from leocod.errors import InvalidRun
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.evaluation.results import Counts, Results
from leocod.events import PseudoLabelAudit
from leocod.files.run_directory import RunDirectory
from leocod.paper.details import (
    OverTime,
    list_evaluations,
    measure_by_class,
    name_beside,
    read_classes,
    read_over_time,
)
from leocod.paper.pseudo_labels import GROUPS, GroupCounts, count_groups, flatten_groups, split_groups
from leocod.paper.sheets import format_csv, read_csv, validate_line
from leocod.report.class_figures import ByClass
from leocod.report.reading import Run
from leocod.settings import Settings

RENAMED = {"forgetfulness": "forgetting"}
"""Columns of older files."""

SINCE = ("labelled_boxes", "labelling_seconds", "updates", "frames_trained_on", "start")
"""Columns that files have since runs note them."""

DIGITS = 12
"""Of the digest of starting weights."""

COMMIT = re.compile(r"[0-9a-f]+(?: with changes)?")


class RunRecord(Settings):
    """The figures of one run, and how it was made."""

    run: str
    """Name of its directory."""
    seed: int
    scores: dict[str, float]
    """Metric -> figure in points; without the metrics that are undefined for this run."""
    labelled_frames: int | None = None
    labelled_boxes: int | None = None
    labelling_seconds: float | None = None
    """Of a person, estimated."""
    updates: int | None = None
    """Steps of the optimiser."""
    frames_trained_on: int | None = None
    """In all updates together."""
    memory_bytes: int | None = None
    seconds: float | None = None
    """From the first step to the last."""
    pseudo_labels: int | None = None
    pseudo_right: int | None = None
    """Pseudo labels that are right by the hidden truth."""
    pseudo_objects: int | None = None
    """True objects in the unlabelled frames that the pseudo-labeller looked at."""
    pseudo_groups: dict[str, GroupCounts] = Field(default_factory=dict)
    """The same three numbers for classes that the start knows, for new ones, and for each third of the stream."""
    start: str = ""
    """Digest of the weights that it began with. Empty: an earlier version did not note it."""
    commit: str = ""
    """Commits of the code that started and resumed it."""
    threads: int | None = None
    resumed: int = 0
    """How often it was resumed."""
    command: str = ""
    by_class: ByClass = Field(default_factory=dict)
    over_time: OverTime = Field(default_factory=dict)

    @property
    def commits(self) -> list[str]:
        return COMMIT.findall(self.commit)


def record_run(directory: RunDirectory, seed: int, results: Results) -> RunRecord:
    """The record of a run that has finished with these results."""
    environment = read_environment(directory)
    return RunRecord(
        run=directory.path.name,
        seed=seed,
        scores=read_scores(results),
        labelled_frames=results.labelled_frames,
        labelled_boxes=results.labelled_boxes,
        labelling_seconds=results.labelling_seconds,
        updates=results.updates,
        frames_trained_on=results.frames_trained_on,
        memory_bytes=results.memory_bytes,
        seconds=results.seconds,
        **_count_pseudo_labels(directory.path, results),
        pseudo_groups=count_groups(results),
        start=str(environment.get("start", ""))[:DIGITS],
        commit=" ".join(_list_commits(environment)),
        threads=environment.get("threads"),
        resumed=len(environment.get("resumed", ())),
        command=shlex.join(map(str, environment.get("command", ()))),
        by_class=measure_by_class(directory.path, results),
        over_time=list_evaluations(results),
    )


def read_scores(results: Results) -> dict[str, float]:
    """The metrics in results.json that are defined for the run."""
    return {metric: value for metric, value in results.scores.items() if value is not None}


def read_environment(directory: RunDirectory) -> dict[str, Any]:
    """The content of environment.json; empty where it cannot be read."""
    try:
        content = json.loads(directory.environment.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def format_runs(records: Iterable[RunRecord]) -> str:
    """The records as CSV, a line each."""
    lines, records = [], list(records)
    metrics = dict.fromkeys([*PAPER_METRICS, *(metric for record in records for metric in record.scores)])
    groups = [group for group in GROUPS if any(group in record.pseudo_groups for record in records)]
    unknown = {name for name in SINCE if all(getattr(record, name) in (None, "") for record in records)}
    for record in records:
        values = record.model_dump(exclude={"scores", "pseudo_groups", "by_class", "over_time"} | unknown)
        scores = {metric: record.scores.get(metric) for metric in metrics}
        line: dict[str, Any] = {"run": record.run, "seed": record.seed}
        lines.append(line | scores | values | flatten_groups(record.pseudo_groups, groups))
    return format_csv(lines)


def read_runs(file: Path) -> dict[str, RunRecord]:
    """The records of a file by the names of their runs, with the details in the files beside it."""
    records = [_parse(line, file, number) for number, line in enumerate(read_csv(file), 2)]
    classes = read_classes(name_beside(file, "classes"))
    over_time = read_over_time(name_beside(file, "over-time"))
    return {
        record.run: record.model_copy(
            update={"by_class": classes.get(record.run, {}), "over_time": over_time.get(record.run, {})}
        )
        for record in records
    }


def _parse(line: Mapping[str, Any], file: Path, number: int) -> RunRecord:
    given = {RENAMED.get(key, key): value for key, value in line.items()}
    groups, rest = split_groups(given)
    values: dict[str, Any] = {key: value for key, value in rest.items() if key in RunRecord.model_fields}
    values["scores"] = {key: value for key, value in rest.items() if key not in RunRecord.model_fields}
    values["pseudo_groups"] = groups
    return validate_line(RunRecord, values, file, number)


def _count_pseudo_labels(path: Path, results: Results) -> dict[str, int | None]:
    """Pseudo labels of the run, how many are right, and how many objects there were to label.

    Results of earlier versions do not have these counts; the events do.
    """
    counts: Counts | PseudoLabelAudit | None = results.pseudo_label_counts
    if counts is None and results.pseudo_labels:
        try:
            run = Run.load(path)
        except InvalidRun:
            return {}
        counts = run.audit if run.audits else None
    if counts is None:
        return {}
    return {"pseudo_labels": counts.labels, "pseudo_right": counts.right, "pseudo_objects": counts.objects}


def _list_commits(environment: Mapping[str, Any]) -> list[str]:
    """Commits of the code that a run was started and resumed with."""
    sources = [start.get("source") or {} for start in (environment, *environment.get("resumed", ()))]
    commits = [f"{str(at['commit'])[:10]}{' with changes' if at.get('changed') else ''}" for at in sources if at]
    return list(dict.fromkeys(commits))
