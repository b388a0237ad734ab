"""Runs that differ only in their seed are one kind: a line and a row of a page, with mean and spread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leocod.evaluation.continual import cap_over_time
from leocod.events import PseudoLabelAudit
from leocod.report.reading import Run
from leocod.settings import MAY_CHANGE
from leocod.text import list_some

NOT_COMPARED = MAY_CHANGE | {"seed", "device", "threads", "frames_at_once"}
"""Keys of a config that runs of one kind may differ in."""

FACTS = (
    *("benchmark", "detector", "strategy", "efficient_cls", "ema", "pseudo_labels", "labels_per_step"),
    *("labels_nested", "diagnosis", "steps", "definitions"),
)
"""What runs of one kind share by their results. The config of a run that was composed in Python does not tell all."""

MOST_NAMED = 2
"""Runs that the name of a kind has, where their names have nothing in common."""


@dataclass(frozen=True)
class Kind:
    """Runs that differ only in their seed; often a single one."""

    name: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Run:
        return self.runs[0]

    @property
    def is_single(self) -> bool:
        return len(self.runs) == 1

    @property
    def by_seed(self) -> dict[int, Run]:
        return {run.results.seed: run for run in self.runs}

    def list_scores(self, metric: str) -> dict[int, float]:
        """Seed -> the metric; without runs that it is not defined for."""
        scores = {seed: run.results.scores.get(metric) for seed, run in self.by_seed.items()}
        return {seed: value for seed, value in scores.items() if value is not None}

    def spread(self, metric: str) -> float | None:
        """The sample standard deviation over seeds; None with less than two."""
        values = list(self.list_scores(metric).values())
        return stdev(values) if len(values) > 1 else None

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Of all runs."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.classes))

    @cached_property
    def evaluated_steps(self) -> list[int]:
        """Steps after which every run was evaluated."""
        return sorted(set.intersection(*(set(run.evaluated_steps) for run in self.runs)))

    @cached_property
    def tables(self) -> NDArray[np.float64]:
        """AP in points: runs x shared evaluations x classes; NaN for a class without a test box."""
        tables = np.full((len(self.runs), len(self.evaluated_steps), len(self.classes)), np.nan)
        shared = set(self.evaluated_steps)
        for number, run in enumerate(self.runs):
            rows = np.array([step in shared for step in run.evaluated_steps], bool)
            tables[number][:, self._find_places(run)] = run.table[rows]
        return tables

    @property
    def table(self) -> NDArray[np.float64]:
        """The same, mean over the runs that test a class."""
        return average_known(self.tables)

    @cached_property
    def starts(self) -> NDArray[np.float64] | None:
        """AP before the first step: runs x classes; None unless every run has it."""
        starts = np.full((len(self.runs), len(self.classes)), np.nan)
        for number, run in enumerate(self.runs):
            if run.history.start is None:
                return None
            starts[number][self._find_places(run)] = run.history.start
        return starts

    def _find_places(self, run: Run) -> list[int]:
        """Where the classes of a run are among all classes."""
        places = {name: place for place, name in enumerate(self.classes)}
        return [places[name] for name in run.classes]

    @property
    def means_over_time(self) -> NDArray[np.float64]:
        """Mean AP over classes: runs x shared evaluations."""
        return np.array([cap_over_time(table) for table in self.tables])

    @property
    def can_forget(self) -> bool:
        """Whether forgetfulness means anything in a run of it."""
        return any(run.can_forget for run in self.runs)

    @property
    def audits(self) -> Mapping[int, PseudoLabelAudit]:
        """Step -> how right its pseudo labels were, added up over the runs, where somebody knew what was there."""
        return _add_up([run.judged_audits for run in self.runs])

    @property
    def audits_by_group(self) -> Mapping[str, Mapping[int, PseudoLabelAudit]]:
        """The same of `known` and of `new` classes; empty where a run does not tell them apart."""
        groups = [run.audits_by_group for run in self.runs]
        return {name: _add_up([one[name] for one in groups]) for name in groups[0]} if all(groups) else {}


def list_runs(kinds: Iterable[Kind]) -> list[Run]:
    """The runs of all kinds."""
    return [run for kind in kinds for run in kind.runs]


def group_runs(runs: Sequence[Run]) -> list[Kind]:
    """Runs by kind, in the order in which each kind comes first.

    No kind has a seed twice. A second run with a seed begins another kind: made again, by other code perhaps.
    """
    groups: list[list[Run]] = []
    shared: list[Any] = []
    for run in runs:
        what = read_settings(run), [getattr(run.results, fact) for fact in FACTS]
        for group, known in zip(groups, shared, strict=True):
            if known == what and run.results.seed not in {member.results.seed for member in group}:
                group.append(run)
                break
        else:
            groups.append([run])
            shared.append(what)
    names = _tell_apart([_name_kind(group) for group in groups])
    return [Kind(name, tuple(group)) for name, group in zip(names, groups, strict=True)]


def read_settings(run: Run) -> Any:
    """What the config of a run says, but for what runs of one kind may differ in."""
    settings = run.settings
    if not isinstance(settings, dict):
        return settings
    compared = {key: value for key, value in settings.items() if key not in NOT_COMPARED}
    if isinstance(composed := compared.get("composed"), dict):
        compared["composed"] = {key: value for key, value in composed.items() if key != "seed"}
    return compared


def average(values: Iterable[float | None]) -> float | None:
    """The mean of those that are known; None where nothing is known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def average_known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the first axis of what is not NaN; NaN where nothing is known."""
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    return np.where(counts > 0, np.where(known, values, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)


def _name_kind(runs: Sequence[Run]) -> str:
    """The name of a single run, or what names of runs have in common besides their seeds."""
    if len(runs) == 1:
        return runs[0].name
    common = {re.sub(rf"[-_ ]?seed[-_= ]?{run.results.seed}(?!\d)", "", run.name) for run in runs}
    name = common.pop()
    return list_some([run.name for run in runs], MOST_NAMED) if common or not name else name


def _tell_apart(names: Sequence[str]) -> list[str]:
    """The same names, with a number where one comes again."""
    seen: Counter[str] = Counter()
    told = []
    for name in names:
        seen[name] += 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told


def _add_up(audits: Sequence[Mapping[int, PseudoLabelAudit]]) -> dict[int, PseudoLabelAudit]:
    if len(audits) == 1:
        return dict(audits[0])
    steps = sorted({step for one in audits for step in one})
    return {step: PseudoLabelAudit.together(one[step] for one in audits if step in one) for step in steps}
