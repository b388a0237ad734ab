"""events.jsonl, read back: class names, and what is needed of each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from leocod.events import PseudoLabelAudit
from leocod.files.paths import is_inside
from leocod.files.run_directory import list_packed_events
from leocod.files.run_files import make_damage_error, read_lines
from leocod.report.schemas import (
    LARGEST_LOG,
    LONGEST_LINE,
    MOST_CELLS,
    MOST_TOLD_CELLS,
    Evaluated,
    Learned,
    Started,
    Warned,
)
from leocod.text import pluralize

Read = TypeVar("Read")

STARTED, LEARNED = TypeAdapter(Started), TypeAdapter(Learned)
EVALUATED, WARNED = TypeAdapter(Evaluated), TypeAdapter(Warned)


@dataclass
class EventLog:
    """What the events of a run tell. A step that is told twice counts as told last."""

    classes: tuple[str, ...] = ()
    single_pass: bool = True
    known_classes: tuple[str, ...] | None = None
    """Those that the starting weights know; None where nobody says."""
    present: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Step -> classes in its frames, labelled or not."""
    labelled: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Step -> classes in its labelled frames."""
    labelled_frames: dict[int, Mapping[int, int]] = field(default_factory=dict)
    """Step -> class -> labelled frames that show it; not of steps that earlier versions learnt."""
    audits: dict[int, PseudoLabelAudit] = field(default_factory=dict)
    """Step -> how right its pseudo labels were."""
    evaluated: set[int] = field(default_factory=set)
    """Steps after which there was an evaluation; -1: before the first one."""
    warnings: list[str] = field(default_factory=list)
    """What looked wrong on the way, and what could not be learnt, with its step."""

    @classmethod
    def read(cls, path: Path) -> EventLog:
        """All events of a run directory, those of the earlier steps of a long run first."""
        log, last = cls(), path / "events.jsonl"
        packed = list_packed_events(path / "events").values() if is_inside(path / "events", path) else ()
        for file in (*packed, last):
            for number, event in read_lines(file, path, largest=LARGEST_LOG, longest=LONGEST_LINE):
                log._add(event, file, f"line {number}: ")
        if not log.classes:
            raise make_damage_error(last, "no RunStarted with class names")
        return log

    def _add(self, event: Any, file: Path, place: str) -> None:
        name = event.get("event") if isinstance(event, dict) else None
        if not isinstance(name, str):
            raise make_damage_error(file, f"{place}no event")
        if name == "RunStarted":
            self._start(validate(event, file, STARTED, place), file, place)
        elif name == "StepLearned":
            self._learn(validate(event, file, LEARNED, place), file, place)
        elif name == "Evaluated":
            self.evaluated.add(validate(event, file, EVALUATED, place).step)
        elif name == "Warned":
            warning = validate(event, file, WARNED, place)
            self.warnings.append(f"Step {warning.step + 1}: {warning.what}")

    def _start(self, started: Started, file: Path, place: str) -> None:
        """Of each file of events anew, and each time the same."""
        if twice := [name for name, times in Counter(started.classes).items() if times > 1]:
            raise make_damage_error(file, f"{place}the class '{twice[0][:60]}' is there twice")
        if self.classes not in ((), tuple(started.classes)):
            raise make_damage_error(file, f"{place}other classes than before")
        self.classes, self.single_pass = tuple(started.classes), started.single_pass
        self.known_classes = None if started.known_classes is None else tuple(started.known_classes)

    def _learn(self, learned: Learned, file: Path, place: str) -> None:
        audited = (learned.audit.by_class if learned.audit else None) or {}
        counted = learned.labelled_frames or {}
        stranger = max([*learned.present, *learned.labelled, *audited, *counted], default=-1)
        if stranger >= len(self.classes):
            raise make_damage_error(
                file, f"{place}class {stranger}, but the run has {pluralize(len(self.classes), 'class')}"
            )
        self.present[learned.step] = tuple(learned.present)
        self.labelled[learned.step] = tuple(learned.labelled)
        if learned.labelled_frames is not None:
            self.labelled_frames[learned.step] = learned.labelled_frames
        self.audits.pop(learned.step, None)
        if learned.audit is not None:
            self.audits[learned.step] = PseudoLabelAudit.from_plain(learned.audit.model_dump())
        if learned.refused is not None:
            self.warnings.append(f"Step {learned.step + 1}: not learnt, {learned.refused}.")

    def check_size(self, steps: int, evaluations: int, file: Path) -> None:
        """Raise when a table of all steps would fill the memory, and the events tell of few of them."""
        cells = len(self.classes) * (steps + evaluations)
        most = max(MOST_CELLS, 2 * len(self.classes) * (len(self.present) + evaluations))
        if cells > min(most, MOST_TOLD_CELLS):
            raise make_damage_error(file, f"steps: too many for the {len(self.present)} that events.jsonl tells of")


def validate(value: Any, file: Path, kind: TypeAdapter[Read], place: str = "") -> Read:
    """A value of a file as what it should be, or the error that names the file and the key."""
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        key = ".".join(map(str, first["loc"]))[:100]
        raise make_damage_error(file, f"{place}{key or 'content'}: {first['msg']}") from error
