"""The loop: feed the stream to the learner, one step at a time, and tell what happened."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from leocod.evaluation.audit import audit_pseudo_labels
from leocod.evaluation.evaluator import Evaluator
from leocod.evaluation.retest import Retest
from leocod.events import (
    Evaluated,
    Event,
    RunFinished,
    StepArrived,
    StepFinished,
    StepLearned,
    StepTested,
    StreamEnded,
    Warned,
)
from leocod.learner import Learned, Learner
from leocod.stream.base import Arrival, Steps
from leocod.text import pluralize
from leocod.types import list_classes


def run_stream(
    stream: Steps,
    learner: Learner,
    evaluator: Evaluator,
    start: int = 0,
    *,
    unfinished: bool = False,
    retests: Sequence[Retest] = (),
) -> Iterator[Event]:
    """At each event the learner is at rest: a sink may look, stop, or save (not at StepArrived and StepTested).

    `unfinished`: the step before `start` was learnt, but not evaluated. `retests`: tried at each evaluation.
    """
    began = waited = time.perf_counter()
    if unfinished and evaluator.due(start - 1):
        yield evaluate(start - 1, learner, evaluator, retests)
    if unfinished:
        yield StepFinished(start - 1, time.perf_counter() - began)
    if start == 0 and evaluator.due(-1):
        yield evaluate(-1, learner, evaluator, retests)
    done = start
    for arrival in stream.arrivals(start, learner=learner):
        step = arrival.step
        yield StepArrived(step.index, arrival.revealed, arrival.state)
        arrived = time.perf_counter()
        if evaluator.prequential and arrival.truth:
            yield StepTested(step.index, evaluator.detect(learner.predict, arrival.known_frames), arrival.truth)
        learned = learner.learn(step)
        # Before StepLearned: after it, a run may be saved and resumed from there.
        for warning in (*arrival.warnings, *learned.warnings):
            yield Warned(step.index, warning)
        yield describe_step(arrival, learned, learner, waited=arrived - waited)
        if evaluator.due(step.index):
            yield evaluate(step.index, learner, evaluator, retests)
        yield StepFinished(step.index, time.perf_counter() - began)
        waited = time.perf_counter()
        done = step.index + 1
    yield StreamEnded(done)
    if stream.length is not None and done < stream.length:
        yield Warned(max(done - 1, 0), f"The source ended after {done} of {pluralize(stream.length, 'step')}.")
    if done and not evaluator.due(done - 1):
        yield evaluate(done - 1, learner, evaluator, retests)
    yield RunFinished(done, time.perf_counter() - began)


def evaluate(step: int, learner: Learner, evaluator: Evaluator, retests: Sequence[Retest] = ()) -> Evaluated:
    """Try the learner on the test frames."""
    began = time.perf_counter()
    ap_by_class, detections = evaluator.evaluate(learner.predict)
    also = {retest.name: retest.evaluate() for retest in retests}
    return Evaluated(step, ap_by_class, time.perf_counter() - began, detections, evaluator.ap_name, also)


def describe_step(arrival: Arrival, learned: Learned, learner: Learner, *, waited: float) -> StepLearned:
    """What there is to tell about a step, hidden truth included: this is the benchmark's side, not the learner's."""
    step, truth = arrival.step, arrival.truth
    human = step.labelled("human")
    return StepLearned(
        step=step.index,
        losses=learned.losses,
        labelled_ids=tuple(frame.id for frame, _ in human),
        present=list_classes(truth.values()),
        labelled=list_classes(labels for _, labels in human),
        audit=audit_pseudo_labels(learned.pseudo, truth) if learned.pseudo else None,
        memory_bytes=arrival.bytes + (learner.memory.bytes if learner.memory is not None else 0),
        seconds={"stream": waited, **learned.seconds},
        pseudo=learned.pseudo,
        frames=step.frames,
        truth=truth,
        skipped=dict(arrival.skipped),
        refused=learned.refused,
        trained_on=learned.trained_on,
        check=learned.check,
        labelled_frames=Counter(number for _, labels in human for number in list_classes([labels])),
    )
