"""A run directory, read back."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.continual import presence_table
from leocod.evaluation.error_breakdown import ErrorCounts, count_errors
from leocod.evaluation.history import History
from leocod.evaluation.metrics.forgetting import compute_by_class
from leocod.evaluation.results import ClassScores, Results
from leocod.events import PseudoLabelAudit, group_classes
from leocod.files import documents
from leocod.files.paths import explain_absence
from leocod.files.run_files import make_damage_error, make_legible, read_json, read_text
from leocod.report.class_figures import ByClass, measure_by_class
from leocod.report.detections import StoredTest
from leocod.report.event_log import EventLog, validate
from leocod.report.schemas import LARGEST, LARGEST_NOTE, Memory, Sample
from leocod.text import one_line
from leocod.types import Detections

Read = TypeVar("Read")

RESULTS, MEMORY = TypeAdapter(Results), TypeAdapter(Memory)
SAMPLES, ENVIRONMENT = TypeAdapter(tuple[Sample, ...]), TypeAdapter(Mapping[str, Any])
"""What each file must fit."""


@dataclass(frozen=True)
class Run:
    """One run directory. Only config.yaml, results.json and events.jsonl must be there."""

    path: Path
    config: str
    """As it stands in the file."""
    results: Results
    classes: tuple[str, ...]
    present: Mapping[int, tuple[int, ...]]
    """Step -> classes in its frames, labelled or not."""
    labelled: Mapping[int, tuple[int, ...]]
    """Step -> classes in its labelled frames."""
    labelled_frames: Mapping[int, Mapping[int, int]]
    """Step -> class -> labelled frames that show it; not of steps that earlier versions learnt."""
    single_pass: bool
    """Whether every frame came once."""
    audits: Mapping[int, PseudoLabelAudit]
    """Step -> how right its pseudo labels were."""
    known_classes: tuple[str, ...] | None
    """Those that the starting weights know; None where nobody says."""
    warnings: tuple[str, ...]
    """What looked wrong on the way, and what could not be learnt, with its step."""
    environment: Mapping[str, Any]
    samples: tuple[Sample, ...]
    memory: Memory | None

    @classmethod
    def load(cls, path: Path) -> Run:
        """Read a run directory, or say which file is wrong and what to do."""
        if not path.is_dir():
            raise InvalidRun(f"{one_line(path)} is not a directory. Give the directory that `leocod run` wrote.")
        results = _read(path / "results.json", path, RESULTS, largest=LARGEST)
        log = EventLog.read(path)
        _check(path, results, log)
        return cls(
            path=path,
            config=_read_config(path / "config.yaml", path),
            results=results,
            classes=log.classes,
            present=log.present,
            labelled=log.labelled,
            labelled_frames=log.labelled_frames,
            single_pass=log.single_pass,
            audits=log.audits,
            known_classes=log.known_classes,
            warnings=tuple(log.warnings),
            environment=_read_optional(path / "environment.json", path, ENVIRONMENT) or {},
            samples=_read_optional(path / "samples" / "samples.json", path, SAMPLES) or (),
            memory=_read_optional(path / "memory.json", path, MEMORY),
        )

    @property
    def name(self) -> str:
        """The directory's name, which is the run's."""
        return make_legible(self.path.resolve().name)

    @property
    def audit(self) -> PseudoLabelAudit:
        """How right all pseudo labels of the run were."""
        return PseudoLabelAudit.together(self.audits.values())

    @property
    def judged_audits(self) -> Mapping[int, PseudoLabelAudit]:
        """The audits of steps in which somebody knew what was in a frame with pseudo labels."""
        return {step: audit for step, audit in self.audits.items() if audit.frames}

    @cached_property
    def audits_by_group(self) -> Mapping[str, Mapping[int, PseudoLabelAudit]]:
        """The audits of `known` and of `new` classes; empty where nobody says which are known, or counted by class."""
        if any(audit.by_class is None for audit in self.audits.values()) or not self.audits:
            return {}
        return {
            name: {
                step: part for step, audit in self.judged_audits.items() if (part := audit.select(classes)) is not None
            }
            for name, classes in group_classes(self.classes, self.known_classes).items()
        }

    @property
    def labelled_by_class(self) -> dict[str, int]:
        """Class -> labelled frames that show it; empty where an earlier version learnt a part of the stream."""
        if self.labelled.keys() - self.labelled_frames.keys():
            return {}
        counts = Counter[int]()
        for step in self.labelled_frames.values():
            counts.update(step)
        return {name: counts[number] for number, name in enumerate(self.classes)}

    @property
    def evaluated_steps(self) -> list[int]:
        """Steps after which there was an evaluation."""
        return [evaluation.step for evaluation in self.results.evaluations]

    @property
    def table(self) -> NDArray[np.float64]:
        """AP in points: evaluations x classes; NaN for a class without a test box."""
        return self.history.table

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Which class was in the training stream at which step: steps x classes."""
        return self.history.in_stream

    @cached_property
    def history(self) -> History:
        """What metrics are computed from, as the results and the events tell it."""
        steps = _count_rows(self.results, self.present)
        in_stream, in_labels = (
            presence_table(seen, steps=steps, classes=len(self.classes)) for seen in (self.present, self.labelled)
        )
        rows = [_to_row(evaluation, self.classes) for evaluation in self.results.evaluations]
        return History(
            classes=self.classes,
            evaluated_steps=tuple(self.evaluated_steps),
            table=np.array(rows, np.float64).reshape(len(rows), len(self.classes)),
            in_stream=in_stream,
            in_labels=in_labels,
            single_pass=self.single_pass,
            definitions=self.results.definitions,
            start=_to_row(self.results.start, self.classes) if self.results.start else None,
        )

    @cached_property
    def errors(self) -> ErrorCounts | None:
        """What is wrong with the detections of the last evaluation; None where they were not kept."""
        if self.test is None or self.last_detections is None:
            return None
        return count_errors(self.last_detections, self.test.truth, len(self.classes))

    @cached_property
    def last_detections(self) -> Mapping[int, Detections] | None:
        """Test frame -> what was found there at the last evaluation; None where that was not kept."""
        if not self.evaluated_steps or self.test is None:
            return None
        last = self.evaluated_steps[-1]
        return self.test.read_detections(last) if self.test.has_detections(last) else None

    @cached_property
    def test(self) -> StoredTest | None:
        """The test frames and their true boxes; None where they were not kept."""
        if explain_absence(self.path / "test.json") == "no such file":
            return None
        test = StoredTest.read(self.path)
        if test.classes != self.classes:
            raise make_damage_error(self.path / "test.json", "other classes than events.jsonl")
        return test

    @cached_property
    def by_class(self) -> ByClass:
        """FAP, CAP and F of each class."""
        return measure_by_class(self.results, lambda: self.history)

    @cached_property
    def settings(self) -> Any:
        """The values in config.yaml."""
        return documents.parse_yaml(self.config)

    @property
    def can_forget(self) -> bool:
        """Whether forgetfulness means anything here; offline training, for one, has no time that passes."""
        if not self.present or "forgetting" in self.results.scores:
            return bool(self.present) and self.results.scores["forgetting"] is not None
        return bool((~np.isnan(compute_by_class(self.history))).any())

    @property
    def command(self) -> str | None:
        """The command line that started the run, ready to be pasted."""
        for key in ("command", "command_line", "argv"):
            if key in self.environment:
                command = self.environment[key]
                return shlex.join(map(str, command)) if isinstance(command, list) else str(command)
        return None


def name_ap(runs: Sequence[Run]) -> str:
    """What AP is called where these runs are shown together."""
    return " / ".join(dict.fromkeys(run.results.definitions.ap_name for run in runs))


def name_last_seen(runs: Sequence[Run]) -> str:
    """What the time away of a class is counted from where these runs are shown together."""
    return " / ".join(dict.fromkeys(run.results.definitions.last_seen for run in runs))


def _read(file: Path, home: Path, kind: TypeAdapter[Read], *, largest: int = LARGEST_NOTE) -> Read:
    return validate(read_json(file, home, largest=largest), file, kind)


def _read_optional(file: Path, home: Path, kind: TypeAdapter[Read]) -> Read | None:
    return None if explain_absence(file) == "no such file" else _read(file, home, kind)


def _read_config(file: Path, home: Path) -> str:
    text = read_text(file, home, largest=documents.LARGEST)
    try:
        documents.parse_yaml(text)
    except InvalidConfig as error:
        raise make_damage_error(file, str(error)) from error
    return text


def _to_row(scores: ClassScores, classes: Sequence[str]) -> NDArray[np.float64]:
    """AP of each class; NaN for one without a test box."""
    by_class = [scores.ap_by_class.get(name) for name in classes]
    return np.array([np.nan if value is None else value for value in by_class], np.float64)


def _check(path: Path, results: Results, log: EventLog) -> None:
    """Raise unless the files belong together, and a table of all steps fits into memory."""
    known = set(log.classes)
    for number, evaluation in enumerate(results.evaluations):
        if strangers := [name for name in evaluation.ap_by_class if name not in known]:
            what = f"evaluations.{number}: '{strangers[0][:60]}' is no class of this run"
            raise make_damage_error(path / "results.json", what)
    log.check_size(_count_rows(results, log.present), len(results.evaluations), path / "results.json")


def _count_rows(results: Results, present: Mapping[int, tuple[int, ...]]) -> int:
    """Steps that a table over all steps must have."""
    last = max([*present, *(evaluation.step for evaluation in results.evaluations)], default=-1)
    return max(results.steps, last + 1)
