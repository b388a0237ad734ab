"""A run directory, read back."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.continual import presence_table
from leocod.events import PseudoLabelAudit
from leocod.files import documents
from leocod.files.paths import explain_absence
from leocod.files.paths import is_inside as inside
from leocod.files.run_directory import list_packed_events
from leocod.files.run_files import damaged, read_json, read_lines, read_text
from leocod.files.run_files import make_legible as legible
from leocod.report.stored import (
    LARGEST,
    LARGEST_LOG,
    LARGEST_NOTE,
    LONGEST_LINE,
    MOST_CELLS,
    MOST_TOLD_CELLS,
    Learned,
    Memory,
    Results,
    Sample,
    Started,
    Warned,
)
from leocod.text import one_line

Read = TypeVar("Read")

RESULTS, MEMORY = TypeAdapter(Results), TypeAdapter(Memory)
STARTED, LEARNED, WARNED = TypeAdapter(Started), TypeAdapter(Learned), TypeAdapter(Warned)
SAMPLES, ENVIRONMENT = TypeAdapter(tuple[Sample, ...]), TypeAdapter(Mapping[str, Any])
"""What each file, or line, must fit."""


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
    audits: Mapping[int, PseudoLabelAudit]
    """Step -> how right its pseudo labels were."""
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
        told = _read_events(path)
        _check(path, results, told)
        return cls(
            path=path,
            config=_config(path / "config.yaml", path),
            results=results,
            classes=told.classes,
            present=told.present,
            labelled=told.labelled,
            audits=told.audits,
            warnings=tuple(told.warnings),
            environment=_read_optional(path / "environment.json", path, ENVIRONMENT) or {},
            samples=_read_optional(path / "samples" / "samples.json", path, SAMPLES) or (),
            memory=_read_optional(path / "memory.json", path, MEMORY),
        )

    @property
    def name(self) -> str:
        """The directory's name, which is the run's."""
        return legible(self.path.resolve().name)

    @property
    def audit(self) -> PseudoLabelAudit:
        """How right all pseudo labels of the run were."""
        return PseudoLabelAudit.together(self.audits.values())

    @property
    def evaluated_steps(self) -> list[int]:
        """Steps after which there was an evaluation."""
        return [evaluation.step for evaluation in self.results.evaluations]

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """AP50 in points: evaluations x classes; NaN for a class without a test box."""
        rows = [
            [np.nan if (value := one.ap50_by_class.get(name)) is None else value for name in self.classes]
            for one in self.results.evaluations
        ]
        return np.array(rows, np.float64).reshape(len(rows), len(self.classes))

    @cached_property
    def presence(self) -> NDArray[np.bool_]:
        """Which class was in the training stream at which step: steps x classes."""
        return self._over_steps(self.present)

    @cached_property
    def counted_presence(self) -> NDArray[np.bool_]:
        """Which class counts as present at which step when forgetting is measured: steps x classes."""
        return self._over_steps(self.results.metrics.seen(self.present, self.labelled))

    def _over_steps(self, seen: Mapping[int, tuple[int, ...]]) -> NDArray[np.bool_]:
        steps = _rows(self.results, self.present)
        return presence_table(seen, steps=steps, classes=len(self.classes))

    @property
    def can_forget(self) -> bool:
        """Whether forgetfulness means anything here; offline training, for one, has no time that passes."""
        return bool(self.present) and self.results.forgetfulness is not None

    @property
    def command(self) -> str | None:
        """The command line that started the run, ready to be pasted."""
        for key in ("command", "command_line", "argv"):
            if key in self.environment:
                command = self.environment[key]
                return shlex.join(map(str, command)) if isinstance(command, list) else str(command)
        return None


def ap_name(runs: Sequence[Run]) -> str:
    """What AP50 is called where these runs are shown together."""
    return " / ".join(dict.fromkeys(run.results.metrics.ap_name for run in runs))


def last_seen(runs: Sequence[Run]) -> str:
    """What the time away of a class is counted from where these runs are shown together."""
    return " / ".join(dict.fromkeys(run.results.metrics.last_seen for run in runs))


def _read(file: Path, home: Path, kind: TypeAdapter[Read], *, largest: int = LARGEST_NOTE) -> Read:
    return _fitting(read_json(file, home, largest=largest), file, kind)


def _read_optional(file: Path, home: Path, kind: TypeAdapter[Read]) -> Read | None:
    return None if explain_absence(file) == "no such file" else _read(file, home, kind)


def _fitting(value: Any, file: Path, kind: TypeAdapter[Read], place: str = "") -> Read:
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        key = ".".join(map(str, first["loc"]))[:100]
        raise damaged(file, f"{place}{key or 'content'}: {first['msg']}") from error


def _config(file: Path, home: Path) -> str:
    text = read_text(file, home, largest=documents.LARGEST)
    try:
        documents.parse_yaml(text)
    except InvalidConfig as error:
        raise damaged(file, str(error)) from error
    return text


@dataclass
class _Told:
    """Class names, and what the report needs from each step."""

    classes: tuple[str, ...] = ()
    present: dict[int, tuple[int, ...]] = field(default_factory=dict)
    labelled: dict[int, tuple[int, ...]] = field(default_factory=dict)
    audits: dict[int, PseudoLabelAudit] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def start(self, started: Started, file: Path, place: str) -> None:
        """Of each file of events anew, and each time the same."""
        if twice := [one for one, times in Counter(started.classes).items() if times > 1]:
            raise damaged(file, f"{place}the class '{twice[0][:60]}' is there twice")
        if self.classes not in ((), tuple(started.classes)):
            raise damaged(file, f"{place}other classes than before")
        self.classes = tuple(started.classes)

    def add(self, learned: Learned, file: Path, place: str) -> None:
        stranger = max([*learned.present, *learned.labelled], default=-1)
        if stranger >= len(self.classes):
            raise damaged(file, f"{place}class {stranger}, but there are {len(self.classes)} classes")
        self.present[learned.step] = tuple(learned.present)
        self.labelled[learned.step] = tuple(learned.labelled)
        self.audits.pop(learned.step, None)
        if learned.audit is not None:
            self.audits[learned.step] = PseudoLabelAudit(**learned.audit.model_dump())
        if learned.refused is not None:
            self.warnings.append(f"Step {learned.step + 1}: not learnt, {learned.refused}.")


def _read_events(path: Path) -> _Told:
    """All events, those of the earlier steps of a long run first. A step told twice counts as told last."""
    told, last = _Told(), path / "events.jsonl"
    packed = list_packed_events(path / "events").values() if inside(path / "events", path) else ()
    for file in (*packed, last):
        for number, event in read_lines(file, path, largest=LARGEST_LOG, longest=LONGEST_LINE):
            place = f"line {number}: "
            name = event.get("event") if isinstance(event, dict) else None
            if not isinstance(name, str):
                raise damaged(file, f"{place}no event")
            if name == "RunStarted":
                told.start(_fitting(event, file, STARTED, place), file, place)
            elif name == "StepLearned":
                told.add(_fitting(event, file, LEARNED, place), file, place)
            elif name == "Warned":
                warning = _fitting(event, file, WARNED, place)
                told.warnings.append(f"Step {warning.step + 1}: {warning.what}")
    if not told.classes:
        raise damaged(last, "no RunStarted with class names")
    return told


def _check(path: Path, results: Results, told: _Told) -> None:
    """Whether the files fit one another, and what is made of them into memory."""
    known = set(told.classes)
    for number, one in enumerate(results.evaluations):
        if strangers := [name for name in one.ap50_by_class if name not in known]:
            what = f"evaluations.{number}: '{strangers[0][:60]}' is no class of this run"
            raise damaged(path / "results.json", what)
    cells = len(told.classes) * (_rows(results, told.present) + len(results.evaluations))
    most = max(MOST_CELLS, 2 * len(told.classes) * (len(told.present) + len(results.evaluations)))
    if cells > min(most, MOST_TOLD_CELLS):
        raise damaged(path / "results.json", f"steps: too many for the {len(told.present)} that events.jsonl tells of")


def _rows(results: Results, present: Mapping[int, tuple[int, ...]]) -> int:
    """Steps that a table over all steps must have."""
    last = max([*present, *(one.step for one in results.evaluations)], default=-1)
    return max(results.steps, last + 1)
