"""A run, from its beginning or from a checkpoint, until it has ended or is asked to stop."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from leocod.errors import Interrupted, InvalidConfig, InvalidRun
from leocod.evaluation.coco_form import to_coco_truth
from leocod.evaluation.metrics.base import find_metrics
from leocod.evaluation.results import Results
from leocod.events import Evaluated, RunStarted, StepFinished, StepLearned
from leocod.files.checkpoint import damaged_error, newest_checkpoint
from leocod.files.run_directory import RunDirectory, refuse_if_taken, write_json, write_text
from leocod.loop import run_stream
from leocod.plugins import diagnosis
from leocod.run.config import ExperimentConfig, describe_changes, load_config
from leocod.run.environment import add_resumption, describe_environment, read_command_line
from leocod.run.experiment import Experiment, build, drop_start_weights, read_config
from leocod.run.interruption import Interruption
from leocod.run.record.checkpoints import Checkpoints
from leocod.run.record.detections import DetectionFiles, PrequentialFile
from leocod.run.record.guard import Guard
from leocod.run.record.results import ResultsFile, add_scores
from leocod.run.record.samples import Samples
from leocod.sinks.base import Sink
from leocod.sinks.jsonl import JsonLines
from leocod.sinks.tensorboard import TensorBoard
from leocod.training import distributed
from leocod.training.gradients import hash_tensors

logger = logging.getLogger(__name__)

AT_REST = RunStarted | StepLearned | StepFinished
"""Events after which a run can be broken off and saved: it only evaluates, or waits for frames."""

Found = tuple[Path, dict[str, Any]] | None
"""A checkpoint and its content, if there is one."""


def run_experiment(config: ExperimentConfig, out: Path, sinks: Sequence[Sink] = ()) -> Results | None:
    """Run it all into a new directory; returns the content of results.json.

    The parts are built before the directory is made, so that a mistake leaves nothing behind. Of several processes that
    learn as one, the first writes; the others return None.
    """
    experiment = build(config)
    if distributed.rank():
        _follow(experiment, out)
        return None
    directory = RunDirectory.create(out)
    with directory.lock(), _written(directory):
        # Another one may have been quicker.
        refuse_if_taken(out)
        write_text(directory.config, config.to_yaml())
        about = describe_environment(threads=config.threads, device=config.device, command=read_command_line())
        write_json(directory.environment, about, indent=2)
        return _run(experiment, directory, sinks)


def resume_experiment(config: ExperimentConfig, out: Path, sinks: Sequence[Sink] = ()) -> Results | None:
    """Go on with the run in a directory from its newest checkpoint, or from the beginning if it has none yet.

    `config` must say what the run's own does, but for what nothing depends on.
    """
    directory = RunDirectory.open(out)
    with directory.lock() if not distributed.rank() else nullcontext():
        _refuse_another(config, load_config(directory.config), directory.config)
        if (results := read_finished(directory)) is not None:
            return None if distributed.rank() else results
        found = newest_checkpoint(directory.checkpoints)
        if found is None:
            experiment = build(config)
        else:
            _refuse_another(config, read_config(*found), found[0])
            experiment = replace(build(drop_start_weights(config)), config=config)
            _refuse_other_data(experiment, *found)
        if distributed.rank():
            _follow(experiment, out, found)
            return None
        with _written(directory):
            directory.sweep()
            directory.set_aside(found[0] if found else None, _evaluated_until(found))
            _note_resumption(directory, config, found)
            return _run(experiment, directory, sinks, found)


def write_report(runs: Sequence[Path], file: Path) -> Path:
    """What it draws with is slow to import: the first step does not wait for it."""
    from leocod.report import report

    return report.write_report(runs, file)


def _run(
    experiment: Experiment,
    directory: RunDirectory,
    others: Sequence[Sink],
    found: Found = None,
) -> Results | None:
    """From the beginning, or from a checkpoint, to the report."""
    config = experiment.config
    write_json(directory.test, to_coco_truth(experiment.evaluator.test, experiment.benchmark.classes))
    experiment.labels.path = directory.labels
    results = ResultsFile(
        directory.results,
        _about(config),
        experiment.labels,
        config.evaluate.definitions,
        find_metrics(config.evaluate.metrics),
        single_pass=experiment.learner.single_pass,
        lost_test_frames=experiment.benchmark.lost_test_frames,
    )
    guard = Guard(config.bad_steps)
    sinks: list[Sink] = [
        *others,
        JsonLines(directory.events, directory.earlier_events, pack_every=config.record.pack_events_every),
        TensorBoard(directory.tensorboard),
        DetectionFiles(directory.detections, keep=config.record.detections),
        PrequentialFile(directory.detections),
        experiment.labels,
        Samples(directory.samples, experiment.benchmark, experiment.learner, experiment.evaluator.test),
        results,
        guard,
    ]
    by_name = {type(sink).__name__: sink for sink in sinks}
    if len(by_name) < len(sinks):
        raise ValueError(
            f"Sinks of the same name: {[type(sink).__name__ for sink in sinks]}. A checkpoint knows them by it."
        )
    checkpoints = Checkpoints(
        directory.checkpoints,
        experiment.learner,
        by_name,
        every=config.checkpoint.every,
        keep=config.checkpoint.keep,
        config=config.model_dump(mode="json"),
    )
    begin = _restored(experiment, found, by_name)
    _drive(experiment, directory.path.resolve().name, begin, sinks, checkpoints, guard, results)
    write_json(directory.memory, _memory(experiment), indent=2)
    write_report([directory.path], directory.report)
    return results.content


def _follow(experiment: Experiment, out: Path, found: Found = None) -> None:
    """What a process of a team does that is not the first: learn the same, and write nothing."""
    guard = Guard(experiment.config.bad_steps)
    _drive(experiment, out.name, _restored(experiment, found, {"Guard": guard}), [guard], guard=guard)


@contextmanager
def _written(directory: RunDirectory) -> Iterator[None]:
    """A disk that is full, or gone, is not our mistake."""
    try:
        yield
    except OSError as error:
        where = error.filename or directory.path
        raise InvalidRun(f"{where} cannot be written ({error.strerror or error}). Mend that first.") from error


@dataclass(frozen=True)
class Begin:
    """Where a run begins, or goes on."""

    step: int
    unfinished: bool = False
    """Whether the step before has been learnt, but not evaluated."""


BEGINNING = Begin(0)


def _restored(experiment: Experiment, found: Found, sinks: Mapping[str, Sink]) -> Begin:
    """Put everything back as it was saved."""
    if found is None:
        return BEGINNING
    path, state = found
    try:
        experiment.learner.load_state_dict(state["learner"])
        for name, sink in sinks.items():
            # One that only this run has, such as the progress bar of a terminal, has nothing to go on from.
            if name in state["sinks"]:
                sink.load_state_dict(state["sinks"][name])
        torch.set_rng_state(state["torch_random"])
        if state["cuda_random"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(state["cuda_random"])
        return Begin(state["step"] + 1, unfinished=not state["finished"])
    except Exception as error:
        raise damaged_error(path, error) from error


def _drive(
    experiment: Experiment,
    name: str,
    begin: Begin,
    sinks: Sequence[Sink] = (),
    checkpoints: Checkpoints | None = None,
    guard: Guard | None = None,
    results: ResultsFile | None = None,
) -> None:
    """Tell every sink what happens. Whatever ends the run early, what has been learnt by then is saved."""
    readers = [*sinks, *([checkpoints] if checkpoints else [])]
    started = RunStarted(
        name,
        experiment.benchmark.classes,
        len(experiment.stream),
        first_step=begin.step,
        single_pass=experiment.learner.single_pass,
    )
    with Interruption() as interruption, ExitStack() as stack:
        for reader in readers:
            stack.enter_context(reader)
        all_told = False
        events = run_stream(
            experiment.stream, experiment.learner, experiment.evaluator, begin.step, unfinished=begin.unfinished
        )
        try:
            for event in chain([started], events if results is None else add_scores(events, results)):
                interruption.at_rest = all_told = False
                if isinstance(event, Evaluated):
                    distributed.agree(
                        "The weights",
                        lambda: hash_tensors(experiment.learner.deployed_detector.state_dict()["weights"]),
                    )
                for reader in readers:
                    reader(event)
                all_told = True
                if isinstance(event, StepFinished) and guard is not None:
                    guard.check()
                if isinstance(event, AT_REST):
                    interruption.rest(between_steps=isinstance(event, StepFinished))
        except (Exception, Interrupted) as error:
            # What is being saved now is not to be broken off.
            interruption.at_rest = False
            # Where some sinks know of an event and others do not, there is nothing consistent to save.
            if checkpoints is not None and all_told:
                _save(checkpoints, error)
            raise


def _save(checkpoints: Checkpoints, reason: BaseException) -> None:
    """The last thing that a run does. What ended it is told in any case."""
    try:
        checkpoints.save()
    except OSError as error:
        # An OSError has the same reason, most likely.
        if not isinstance(reason, OSError):
            reason.args = (f"{reason} Not saved: {error}.", *reason.args[1:])


def _about(config: ExperimentConfig) -> dict[str, Any]:
    return {
        "benchmark": config.benchmark.name,
        "detector": config.detector.name,
        "strategy": config.strategy.name,
        "efficient_cls": config.efficient_cls is not None,
        "ema": config.efficient_cls is not None and config.efficient_cls.ema,
        "pseudo_labels": config.efficient_cls is not None and config.efficient_cls.pseudo_labels,
        "labels_per_step": config.labels.per_step,
        "labels_nested": config.labels.nested,
        "seed": config.seed,
        "diagnosis": diagnosis.WORDS[config.diagnosis] if config.diagnosis else None,
    }


def _memory(experiment: Experiment) -> dict[str, Any]:
    memory = experiment.learner.memory
    if memory is None:
        return {"bytes": experiment.stream.bytes, "frames": 0, "by_class": {}}
    return {
        "bytes": memory.bytes,
        "frames": len(memory),
        "by_class": {
            name: {"frames": memory.count(number), "seen": memory.seen.get(number, 0)}
            for number, name in enumerate(experiment.learner.classes)
        },
    }


def _refuse_another(config: ExperimentConfig, own: ExperimentConfig, where: Path) -> None:
    if changed := describe_changes(own, config):
        raise InvalidConfig(
            f"The run cannot go on: it would not be the one of {where}. {'; '.join(changed)}. Put that back, or start "
            "a new run."
        )


def _refuse_other_data(experiment: Experiment, path: Path, state: Mapping[str, Any]) -> None:
    """What the config names may have changed on the disk."""
    before = len(state["classes"]), state["steps"]
    now = len(experiment.benchmark.classes), len(experiment.stream)
    if list(experiment.benchmark.classes) != list(state["classes"]) or before != now:
        raise InvalidRun(
            f"The run cannot go on: the data are not those of {path}, which had {before[0]} classes and {before[1]} "
            f"steps; there are {now[0]} and {now[1]} now, or other names. Put them back, or start a new run."
        )


def _evaluated_until(found: Found) -> int:
    """The last step whose evaluation, if there was one, the run that goes on has no need to repeat."""
    return -1 if found is None else found[1]["step"] if found[1]["finished"] else found[1]["step"] - 1


def _note_resumption(directory: RunDirectory, config: ExperimentConfig, found: Found) -> None:
    """With what the run goes on. Other versions may compute other last digits."""
    write_text(directory.config, config.to_yaml())
    now = describe_environment(threads=config.threads, device=config.device, command=read_command_line())
    content, changed = add_resumption(directory.environment, found[1]["step"] + 1 if found else 0, now)
    if changed:
        logger.warning("Other versions than before, so the last digits may differ: %s.", "; ".join(changed))
    write_json(directory.environment, content, indent=2)


def read_finished(directory: RunDirectory) -> Results | None:
    """The results of a run that has ended; the report is what it writes last."""
    if not (directory.results.exists() and directory.memory.exists() and directory.report.exists()):
        return None
    try:
        return Results.model_validate_json(directory.results.read_bytes())
    except ValueError:
        # Damaged: it is made again from the last checkpoint.
        return None
