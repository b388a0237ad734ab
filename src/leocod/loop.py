"""The loop: feed the stream to the learner, one step at a time, and tell what happened."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from leocod.evaluation.audit import audit_pseudo_labels
from leocod.evaluation.evaluator import Evaluator
from leocod.events import Evaluated, Event, RunFinished, StepArrived, StepFinished, StepLearned, StreamEnded, Warned
from leocod.learner import Learned, Learner
from leocod.stream.base import Steps
from leocod.types import Labels, Step


def run_stream(
    stream: Steps, learner: Learner, evaluator: Evaluator, start: int = 0, *, unfinished: bool = False
) -> Iterator[Event]:
    """At each event the learner is at rest: a reader may look, stop, or save (not at StepArrived).

    `unfinished`: the step before `start` has been learnt, but its evaluation has not been told.
    """
    began = waited = time.perf_counter()
    if unfinished and evaluator.due(start - 1):
        yield _evaluated(start - 1, learner, evaluator)
    if unfinished:
        yield StepFinished(start - 1, time.perf_counter() - began)
    if start == 0 and evaluator.due(-1):
        yield _evaluated(-1, learner, evaluator)
    done = start
    for step in stream.steps(start):
        yield StepArrived(step.index)
        arrived = time.perf_counter()
        learned = learner.learn(step)
        # Before the step is told: after that, a run may be saved and go on from there.
        for warning in (*stream.warnings, *learned.warnings):
            yield Warned(step.index, warning)
        yield _told(step, learned, stream, learner, {"stream": arrived - waited})
        if evaluator.due(step.index):
            yield _evaluated(step.index, learner, evaluator)
        yield StepFinished(step.index, time.perf_counter() - began)
        waited = time.perf_counter()
        done = step.index + 1
    yield StreamEnded(done)
    if done < len(stream):
        yield Warned(max(done - 1, 0), f"The source ended after {done} of {len(stream)} steps.")
        if done and not evaluator.due(done - 1):
            yield _evaluated(done - 1, learner, evaluator)
    yield RunFinished(done, time.perf_counter() - began)


def _evaluated(step: int, learner: Learner, evaluator: Evaluator) -> Evaluated:
    began = time.perf_counter()
    ap_by_class, detections = evaluator.evaluate(learner.predict)
    return Evaluated(step, ap_by_class, time.perf_counter() - began, detections, evaluator.ap_name)


def _told(step: Step, learned: Learned, stream: Steps, learner: Learner, seconds: Mapping[str, float]) -> StepLearned:
    """What there is to tell about a step, hidden truth included: this is the benchmark's side, not the learner's."""
    human = step.labelled("human")
    return StepLearned(
        step=step.index,
        losses=learned.losses,
        labelled_ids=tuple(frame.id for frame, _ in human),
        present=_classes(stream.truth.values()),
        labelled=_classes(labels for _, labels in human),
        audit=audit_pseudo_labels(learned.pseudo, stream.truth) if learned.pseudo else None,
        memory_bytes=stream.bytes + (learner.memory.bytes if learner.memory is not None else 0),
        seconds={**seconds, **learned.seconds},
        pseudo=learned.pseudo,
        skipped=dict(stream.skipped),
        refused=learned.refused,
    )


def _classes(labels: Iterable[Labels]) -> tuple[int, ...]:
    found = [one.classes for one in labels]
    return tuple(np.unique(np.concatenate(found)).tolist()) if found else ()
