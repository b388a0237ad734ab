"""A run in its directory: start it, or resume it from its newest checkpoint, until it ends or is asked to stop."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml

from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.coco_form import to_coco_truth
from leocod.evaluation.metrics.base import find_metrics
from leocod.evaluation.results import Results
from leocod.files.atomic import write_json, write_text
from leocod.files.checkpoint import read_newest_checkpoint
from leocod.files.documents import read_yaml
from leocod.files.run_directory import RunDirectory, refuse_if_taken
from leocod.run.config import ExperimentConfig, describe_changes, load_run_config
from leocod.run.driver import Saved, drive, restore
from leocod.run.earlier import drop_start, read_config
from leocod.run.environment import add_resumption, describe_environment, read_command_line
from leocod.run.experiment import build
from leocod.run.parts import Parts
from leocod.run.record.checkpoints import Checkpoints
from leocod.run.record.detections import DetectionFiles, PrequentialFile
from leocod.run.record.given_labels import GivenLabels
from leocod.run.record.guard import Guard
from leocod.run.record.labels import LabelRecord
from leocod.run.record.results import ResultsFile
from leocod.run.record.samples import Samples
from leocod.run.remarks import list_remarks
from leocod.run.working_directory import describe_working_directory
from leocod.sinks.base import RunInfo, Sink
from leocod.sinks.jsonl import JsonLines
from leocod.text import pluralize
from leocod.training import distributed
from leocod.training.gradients import hash_tensors

logger = logging.getLogger(__name__)

MakeSinks = Callable[[RunInfo], Sequence[Sink]]
"""Builds sinks once the run directory is known."""


def run_experiment(config: ExperimentConfig, out: Path, sinks: Sequence[Sink] = ()) -> Results | None:
    """Run a config in a new directory; returns the content of results.json. `sinks` come beside the config's own.

    Of several processes that train as one, the first one writes; the others return None.
    """
    experiment = build(config)
    if not distributed.rank():
        for remark in list_remarks(experiment):
            logger.warning("%s", remark)
    return _start(experiment.parts, out, lambda info: [*sinks, *config.build_sinks(info)])


def resume_experiment(config: ExperimentConfig, out: Path, sinks: Sequence[Sink] = ()) -> Results | None:
    """Resume the run in a directory from its newest checkpoint, or from the beginning if it has none yet.

    `config` must say what the run's own config says, but for keys that nothing depends on.
    """

    def check(directory: RunDirectory) -> None:
        _refuse_other_config(config, load_run_config(directory.config), directory.config)

    def rebuild(saved: Saved) -> Parts:
        if saved is None:
            return build(config).parts
        _refuse_other_config(config, read_config(*saved), saved[0])
        return replace(build(drop_start(config)), config=config).parts

    return _resume(check, rebuild, out, lambda info: [*sinks, *config.build_sinks(info)])


def start_run(parts: Parts, out: Path, sinks: Sequence[Sink] = ()) -> Results | None:
    """Run parts that were composed in Python in a new directory: checkpoints, results and report as `leocod run`."""
    return _start(parts, out, lambda info: [*sinks, JsonLines(run=info)])


def resume_run(parts: Parts, out: Path, sinks: Sequence[Sink] = ()) -> Results | None:
    """Resume a run of parts that were composed in Python. The parts must be made as they were at the start."""

    def check(directory: RunDirectory) -> None:
        before, now = (described.get("composed", {}) for described in (read_yaml(directory.config), parts.described))
        if changed := [key for key in now if before.get(key) != now[key]]:
            raise InvalidConfig(f"{directory.config} is of another run: {', '.join(changed)} differ. Start a new run.")

    return _resume(check, lambda saved: parts, out, lambda info: [*sinks, JsonLines(run=info)])


def _start(parts: Parts, out: Path, make_sinks: MakeSinks) -> Results | None:
    """The parts are built before the directory is made, so that a mistake leaves nothing behind."""
    if distributed.rank():
        _follow(parts, out)
        return None
    directory = RunDirectory.create(out)
    with directory.lock(), _explain_write_errors(directory):
        # Another process may have been quicker.
        refuse_if_taken(out)
        write_text(directory.config, _to_yaml(parts))
        about = _describe_environment(parts) | _describe_start(parts)
        write_json(directory.environment, about | describe_working_directory(out), indent=2)
        return _run(parts, directory, make_sinks)


def _resume(
    check: Callable[[RunDirectory], None], rebuild: Callable[[Saved], Parts], out: Path, make_sinks: MakeSinks
) -> Results | None:
    directory = RunDirectory.open(out)
    with directory.lock() if not distributed.rank() else nullcontext():
        check(directory)
        if (results := read_finished(directory)) is not None:
            return None if distributed.rank() else results
        saved = read_newest_checkpoint(directory.checkpoints)
        parts = rebuild(saved)
        if saved is not None:
            _refuse_other_data(parts, *saved)
            parts = _restore_known_classes(parts, saved[1])
        if distributed.rank():
            _follow(parts, out, saved)
            return None
        with _explain_write_errors(directory):
            directory.sweep()
            directory.set_aside(saved[0] if saved else None, _find_last_evaluated(saved))
            _note_resumption(directory, parts, saved)
            return _run(parts, directory, make_sinks, saved)


def write_report(runs: Sequence[Path], file: Path) -> Path:
    """The plots are slow to import: the first step does not wait for them."""
    from leocod.report import report

    return report.write_report(runs, file)


def _run(parts: Parts, directory: RunDirectory, make_sinks: MakeSinks, saved: Saved = None) -> Results:
    """From the beginning, or from a checkpoint, to the report."""
    write_json(directory.test, to_coco_truth(parts.evaluator.test, parts.evaluator.classes))
    labels = LabelRecord(directory.labels, parts.labelling)
    results = ResultsFile(
        directory.results,
        asdict(parts.facts),
        labels,
        parts.definitions,
        find_metrics(parts.metrics),
        single_pass=parts.learner.single_pass,
        lost_test_frames=parts.lost_test_frames,
    )
    sinks: list[Sink] = [
        *make_sinks(RunInfo(directory, parts.described)),
        DetectionFiles(directory.detections, keep=parts.record.detections),
        PrequentialFile(directory.detections),
        labels,
        GivenLabels(directory.given, [frame for frame, _ in parts.evaluator.test], parts.known_labels),
        Samples(directory.samples, parts.learner, parts.evaluator.test),
        results,
    ]
    guard = Guard(parts.bad_steps)
    by_name = {type(sink).__name__: sink for sink in (*sinks, guard)}
    if len(by_name) <= len(sinks):
        names = [type(sink).__name__ for sink in sinks]
        raise InvalidConfig(f"Two sinks have the same class name: {names}. A checkpoint keeps their states by it.")
    checkpoints = Checkpoints(
        directory.checkpoints,
        parts.learner,
        by_name,
        every=parts.checkpoint.every,
        minutes=parts.checkpoint.minutes,
        keep=parts.checkpoint.keep,
        config=parts.described,
        # A step that was learnt, but not evaluated, is finished and saved before the next one arrives.
        stream_state=saved[1].get("stream") if saved else None,
    )
    begin = restore(parts, saved, by_name)
    drive(parts, directory.path.resolve().name, begin, guard, sinks, checkpoints, results)
    assert results.content is not None
    write_json(directory.memory, _describe_memory(parts, results.content.memory_bytes or 0), indent=2)
    write_report([directory.path], directory.report)
    return results.content


def _follow(parts: Parts, out: Path, saved: Saved = None) -> None:
    """Of several processes that train as one, all but the first: train the same, and write nothing."""
    guard = Guard(parts.bad_steps)
    drive(parts, out.name, restore(parts, saved, {"Guard": guard}), guard)


@contextmanager
def _explain_write_errors(directory: RunDirectory) -> Iterator[None]:
    """A disk that is full, or gone, is not our mistake."""
    try:
        yield
    except OSError as error:
        where = error.filename or directory.path
        raise InvalidRun(f"{where} cannot be written ({error.strerror or error}). Fix this and retry.") from error


def _to_yaml(parts: Parts) -> str:
    return yaml.safe_dump(dict(parts.described), sort_keys=False)


def _describe_memory(parts: Parts, stream_bytes: int) -> dict[str, Any]:
    memory = parts.learner.memory
    if memory is None:
        return {"bytes": stream_bytes, "frames": 0, "by_class": {}}
    return {
        "bytes": memory.bytes,
        "frames": len(memory),
        "by_class": {
            name: {"frames": memory.count(number), "seen": memory.seen.get(number, 0)}
            for number, name in enumerate(parts.learner.classes)
        },
    }


def _refuse_other_config(config: ExperimentConfig, before: ExperimentConfig, where: Path) -> None:
    if changes := describe_changes(before, config):
        raise InvalidConfig(
            f"The run cannot be resumed: its config differs from that of {where}. {'; '.join(changes)}. Use the old "
            "values, or start a new run."
        )


def _refuse_other_data(parts: Parts, path: Path, state: Mapping[str, Any]) -> None:
    """The data that the config names may have changed on the disk."""
    before = len(state["classes"]), state["steps"]
    now = len(parts.evaluator.classes), parts.stream.length
    if list(parts.evaluator.classes) != list(state["classes"]) or before != now:
        raise InvalidRun(
            f"The run cannot be resumed: its data have changed since {path}. It had {_count(*before)}; "
            f"now it has {_count(*now)}, or other names. Put the data back, "
            "or start a new run."
        )


def _count(classes: int, steps: int | None) -> str:
    length = "a stream of unknown length" if steps is None else pluralize(steps, "step")
    return f"{pluralize(classes, 'class')} and {length}"


def _restore_known_classes(parts: Parts, state: Mapping[str, Any]) -> Parts:
    """As at the start: the weights that told them may be gone. Earlier versions did not ask."""
    known = state.get("known_classes")
    return replace(parts, known_classes=None if known is None else tuple(known))


def _find_last_evaluated(saved: Saved) -> int:
    """The last step whose evaluation, if there was one, the resumed run need not repeat."""
    return -1 if saved is None else saved[1]["step"] if saved[1]["finished"] else saved[1]["step"] - 1


def _note_resumption(directory: RunDirectory, parts: Parts, saved: Saved) -> None:
    """With what the run is resumed. Other versions may compute other last digits."""
    write_text(directory.config, _to_yaml(parts))
    content, changed = add_resumption(
        directory.environment, saved[1]["step"] + 1 if saved else 0, _describe_environment(parts)
    )
    if changed:
        logger.warning("Other versions than before, so the last digits may differ: %s.", "; ".join(changed))
    # Without a checkpoint the run begins again, perhaps with other weights.
    write_json(directory.environment, content if saved else content | _describe_start(parts), indent=2)


def _describe_environment(parts: Parts) -> dict[str, Any]:
    return describe_environment(threads=parts.threads, device=parts.device, command=read_command_line())


def _describe_start(parts: Parts) -> dict[str, Any]:
    """By which a table can tell whether two runs began with the same weights."""
    return {"start": hash_tensors(parts.learner.deployed_detector.state_dict())}


def read_finished(directory: RunDirectory) -> Results | None:
    """The results of a run that has ended; the report is what it writes last."""
    if not (directory.results.exists() and directory.memory.exists() and directory.report.exists()):
        return None
    try:
        return Results.model_validate_json(directory.results.read_bytes())
    except ValueError:
        # Damaged: it is made again from the last checkpoint.
        return None
