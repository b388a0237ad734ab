"""A run's history from what it has stored: true boxes, detections, events and config. No model, no torch."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter

from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.continual import presence_table
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.error_breakdown import ErrorCounts
from leocod.evaluation.history import History
from leocod.files import documents
from leocod.files.run_files import make_damage_error, read_text
from leocod.report.detections import StoredTest, read_prequential
from leocod.report.event_log import EventLog, validate
from leocod.text import one_line

DEFINITIONS = TypeAdapter(Definitions)


def read_history(path: Path) -> History:
    """Every AP computed again from the detections; of evaluations whose detections were not kept there is none."""
    log, test = _read(path)
    definitions = read_definitions(path)
    evaluated = sorted(step for step in log.evaluated if step >= 0)
    kept = [step for step in evaluated if test.has_detections(step)]
    steps = 1 + max([*log.present, *evaluated], default=-1)
    log.check_size(steps, len(evaluated), path / "events.jsonl")
    in_stream, in_labels = (
        presence_table(seen, steps=steps, classes=len(log.classes)) for seen in (log.present, log.labelled)
    )
    has_start = -1 in log.evaluated and test.has_detections(-1)
    return History(
        classes=log.classes,
        evaluated_steps=tuple(kept),
        table=test.score(kept, definitions.ap),
        in_stream=in_stream,
        in_labels=in_labels,
        single_pass=log.single_pass,
        definitions=definitions,
        start=test.score([-1], definitions.ap)[0] if has_start else None,
        prequential=read_prequential(path, len(log.classes), definitions.ap),
        lost_steps=tuple(step for step in evaluated if step not in set(kept)),
    )


def read_errors(path: Path) -> tuple[int, tuple[str, ...], ErrorCounts]:
    """The step of the last evaluation, the classes, and what is wrong with what was found then."""
    log, test = _read(path)
    evaluated = [step for step in log.evaluated if step >= 0]
    if not evaluated or not test.has_detections(max(evaluated)):
        raise InvalidRun(f"{one_line(path)} has no detections of its last evaluation: there is nothing to count.")
    return max(evaluated), test.classes, test.count_errors(max(evaluated))


def _read(path: Path) -> tuple[EventLog, StoredTest]:
    if not path.is_dir():
        raise InvalidRun(f"{one_line(path)} is not a directory. Give the directory that `leocod run` wrote.")
    log, test = EventLog.read(path), StoredTest.read(path)
    if test.classes != log.classes:
        raise make_damage_error(path / "test.json", "other classes than events.jsonl")
    return log, test


def read_definitions(path: Path) -> Definitions:
    """What AP and forgetfulness mean in a run, as its config says."""
    file = path / "config.yaml"
    try:
        config = documents.parse_mapping(read_text(file, path, largest=documents.LARGEST), "it")
    except InvalidConfig as error:
        raise make_damage_error(file, str(error)) from error
    evaluate = config.get("evaluate") or {}
    if not isinstance(evaluate, dict):
        raise make_damage_error(file, "evaluate: it should have keys with values")
    return validate({key: evaluate[key] for key in Definitions.model_fields if key in evaluate}, file, DEFINITIONS)
