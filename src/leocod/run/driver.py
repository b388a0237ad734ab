"""Drives a run from its first event to its last: tells every sink, saves, stops when asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from leocod.errors import Interrupted
from leocod.events import Evaluated, Event, RunStarted, StepFinished, StepLearned
from leocod.files.checkpoint import make_damaged_error
from leocod.loop import run_stream
from leocod.run.interruption import Interruption
from leocod.run.parts import Parts
from leocod.run.record.checkpoints import Checkpoints
from leocod.run.record.guard import Guard
from leocod.run.record.results import ResultsFile, add_scores
from leocod.sinks.base import Sink
from leocod.training import distributed
from leocod.training.gradients import hash_tensors

AT_REST = RunStarted | StepLearned | StepFinished
"""Events after which a run can be interrupted and saved: it only evaluates, or waits for frames."""

Saved = tuple[Path, dict[str, Any]] | None
"""A checkpoint and its content, if there is one."""


@dataclass(frozen=True)
class Begin:
    """Where a run begins or resumes."""

    step: int
    unfinished: bool = False
    """Whether the step before has been learnt, but not evaluated."""


def restore(parts: Parts, saved: Saved, sinks: Mapping[str, Sink]) -> Begin:
    """Put everything back as it was saved."""
    if saved is None:
        return Begin(0)
    path, state = saved
    try:
        parts.learner.load_state_dict(state["learner"])
        # Checkpoints of before streams had a state have none.
        parts.stream.load_state_dict(state.get("stream", {}))
        for name, sink in sinks.items():
            # A sink that only this run has, such as another output, has nothing to go on from.
            if name in state["sinks"]:
                sink.load_state_dict(state["sinks"][name])
        torch.set_rng_state(state["torch_random"])
        if state["cuda_random"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(state["cuda_random"])
        return Begin(state["step"] + 1, unfinished=not state["finished"])
    except Exception as error:
        raise make_damaged_error(path, error) from error


def drive(
    parts: Parts,
    name: str,
    begin: Begin,
    guard: Guard,
    sinks: Sequence[Sink] = (),
    checkpoints: Checkpoints | None = None,
    results: ResultsFile | None = None,
) -> None:
    """Tell every sink what happens. Whatever ends the run early, what has been learnt by then is saved."""
    readers = [*sinks, guard, *([checkpoints] if checkpoints else [])]
    started = RunStarted(
        name,
        parts.evaluator.classes,
        parts.stream.length,
        first_step=begin.step,
        single_pass=parts.learner.single_pass,
        known_classes=parts.known_classes,
    )
    events = run_stream(
        parts.stream, parts.learner, parts.evaluator, begin.step, unfinished=begin.unfinished, retests=parts.retests
    )
    if results is not None:
        events = add_scores(events, results)
    with Interruption() as interruption, ExitStack() as stack:
        for reader in readers:
            stack.enter_context(reader)
        delivered = False
        try:
            for event in chain([started], events):
                interruption.at_rest = delivered = False
                _check_agreement(event, parts)
                for reader in readers:
                    reader(event)
                delivered = True
                if isinstance(event, StepFinished):
                    guard.check()
                if isinstance(event, AT_REST):
                    interruption.rest(between_steps=isinstance(event, StepFinished))
        except (Exception, Interrupted) as error:
            # Saving must not be interrupted.
            interruption.at_rest = False
            # If some sinks know of an event and others do not, there is nothing consistent to save.
            if checkpoints is not None and delivered:
                _save(checkpoints, error)
            raise


def _check_agreement(event: Event, parts: Parts) -> None:
    """All processes that train as one must have the same weights."""
    if isinstance(event, Evaluated):
        deployed = parts.learner.deployed_detector
        distributed.agree("The weights", lambda: hash_tensors(deployed.state_dict()))


def _save(checkpoints: Checkpoints, reason: BaseException) -> None:
    """The last thing that a run does. The error that ended the run is raised in any case."""
    try:
        checkpoints.save()
    except OSError as error:
        # If an OSError ended the run, saving most likely failed for the same reason.
        if not isinstance(reason, OSError):
            reason.args = (f"{reason} Not saved: {error}.", *reason.args[1:])
