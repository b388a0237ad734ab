"""The loop: feed the stream to the learner, one step at a time, and tell what happened."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from leocod.benchmarks.base import Steps
from leocod.evaluation.audit import audit_pseudo_labels
from leocod.evaluation.evaluator import Evaluator
from leocod.events import Evaluated, Event, RunFinished, StepFinished, StepLearned
from leocod.learner import Learned, Learner
from leocod.types import Labels, Step


def run(stream: Steps, learner: Learner, evaluator: Evaluator, start: int = 0) -> Iterator[Event]:
    """At each event the learner is at rest: a reader may look, stop, or save (at StepFinished)."""
    began = waited = time.perf_counter()
    for step in stream.steps(start):
        arrived = time.perf_counter()
        learned = learner.learn(step)
        yield _told(step, learned, stream, learner, {"stream": arrived - waited})
        if evaluator.due(step.index):
            began_evaluating = time.perf_counter()
            ap_by_class, detections = evaluator.evaluate(learner.predict)
            seconds = time.perf_counter() - began_evaluating
            yield Evaluated(step.index, ap_by_class, seconds, detections, evaluator.ap_name)
        yield StepFinished(step.index)
        waited = time.perf_counter()
    yield RunFinished(len(stream), time.perf_counter() - began)


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
    )


def _classes(labels: Iterable[Labels]) -> tuple[int, ...]:
    found = [one.classes for one in labels]
    return tuple(np.unique(np.concatenate(found)).tolist()) if found else ()
