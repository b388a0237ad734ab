"""The loop tells what happened, in order, and lets nobody disturb the learner."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.errors import SourceAway, SourceEnded
from leocod.evaluation.evaluator import Evaluator
from leocod.events import Evaluated, RunFinished, StepFinished, StepLearned, StreamEnded, Warned
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.loop import run_stream
from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
from leocod.strategies.icarl import ICaRL
from leocod.stream.recorded import Stream


@pytest.fixture(scope="module")
def world():
    return Wander(WanderOptions(steps=4, frames_per_step=6, width=64, height=48), seed=3)


def parts_of(world, every=2, style="coco", **options):
    detector = Tiny(world.classes, TinyOptions(weights=None, short_side=48, regions=16, proposals=24))
    learner = EfficientCLS(ICaRL(detector), EfficientCLSOptions(**{"score_threshold": 0.05} | options))
    stream = Stream(world, RandomLabeller(RandomOptions(per_step=2), seed=0), patience=60, pause=0.01)
    evaluator = Evaluator(world.test, world.classes, every=every, last_step=world.steps - 1, style=style)
    return stream, learner, evaluator


def events_of(world, start=0, **options):
    """All but the warning that the pseudo labels of such a learner are mostly wrong, which is true."""
    stream, learner, evaluator = parts_of(world, **options)
    events = run_stream(stream, learner, evaluator, start)
    return [event for event in events if not is_about_wrong_labels(event)], learner


def is_about_wrong_labels(event):
    return isinstance(event, Warned) and event.what.startswith("Pseudo labels are mostly wrong")


def test_events_come_in_order(world):
    events, _ = events_of(world)

    names = [type(event).__name__ for event in events]
    assert names == [
        *("StepArrived", "StepLearned", "StepFinished", "StepArrived", "StepLearned", "Evaluated", "StepFinished"),
        *("StepArrived", "StepLearned", "StepFinished", "StepArrived", "StepLearned", "Evaluated", "StepFinished"),
        *("StreamEnded", "RunFinished"),
    ]
    assert isinstance(events[-1], RunFinished)
    assert [event.step for event in events if isinstance(event, StepFinished)] == [0, 1, 2, 3]


def test_a_step_is_told_with_what_the_learner_could_not_see(world):
    events, _ = events_of(world)

    first = next(event for event in events if isinstance(event, StepLearned))
    true = [labels.classes for _, labels in world.frames_of(0)]
    assert first.present == tuple(np.unique(np.concatenate(true)).tolist())
    assert set(first.labelled) <= set(first.present)
    assert len(first.labelled_ids) == 2
    assert first.audit is not None
    assert first.audit.frames == 4
    assert sum(counts.objects for counts in first.audit.by_class.values()) == first.audit.objects > 0
    assert first.check is not None
    assert first.memory_bytes > 0
    assert {"stream", "train", "pseudo labels"} <= set(first.seconds)


@pytest.mark.parametrize("options", [{"empty_frames": False}, {"pause": True, "watch_steps": 1}], ids=str)
def test_frames_that_are_left_out_of_training_have_objects_to_find_all_the_same(world, options):
    """Nothing is sure enough here: all unlabelled frames stay empty, and from then on pseudo labels have collapsed."""
    events, _ = events_of(world, score_threshold=1.0, **options)

    audits = [event.audit for event in events if isinstance(event, StepLearned)]
    hidden = [
        sum(len(event.truth[frame.id]) for frame in event.frames if frame.id not in event.labelled_ids)
        for event in events
        if isinstance(event, StepLearned)
    ]
    assert [(audit.frames, audit.labels, audit.objects) for audit in audits] == [(4, 0, number) for number in hidden]
    assert min(hidden) > 0


@pytest.mark.parametrize("options", [{"pseudo_labels": False}, {"warmup_steps": 9}], ids=str)
def test_where_no_pseudo_labels_are_written_there_is_no_audit_and_no_check(world, options):
    events, _ = events_of(world, **options)

    assert {(event.audit, event.check) for event in events if isinstance(event, StepLearned)} == {(None, None)}


def test_evaluating_more_often_changes_nothing_that_is_learnt(world):
    rarely, one = events_of(world, every=4)
    often, two = events_of(world, every=1)

    assert [event.losses for event in rarely if isinstance(event, StepLearned)] == [
        event.losses for event in often if isinstance(event, StepLearned)
    ]
    last = [[event for event in events if isinstance(event, Evaluated)][-1] for events in (rarely, often)]
    assert last[0].ap_by_class == last[1].ap_by_class
    assert one.steps_learned == two.steps_learned == 4


def test_an_evaluation_is_told_with_the_name_of_its_figure(world):
    for style, name in {"coco": "AP50", "voc": "VOC AP50"}.items():
        events, _ = events_of(world, every=4, style=style)

        assert [event.ap_name for event in events if isinstance(event, Evaluated)] == [name]


def test_it_can_start_later(world):
    events, _ = events_of(world, start=2)

    assert [event.step for event in events if isinstance(event, StepLearned)] == [2, 3]


@pytest.mark.parametrize("every", [2, 3])
def test_a_step_that_was_learnt_but_not_evaluated_is_finished_first(world, every):
    stream, learner, evaluator = parts_of(world, every=every)

    events = list(run_stream(stream, learner, evaluator, 2, unfinished=True))

    names = [type(event).__name__ for event in events]
    due = every == 2
    assert names[: 3 if due else 2] == [*(["Evaluated"] if due else []), "StepFinished", "StepArrived"]
    assert [event.step for event in events if isinstance(event, StepFinished)] == [1, 2, 3]
    assert [event.step for event in events if isinstance(event, Evaluated)] == ([1, 3] if due else [2, 3])


class Short(Wander):
    """A walk that is expected to be longer than it is; or of which a part comes late."""

    ends_at, away_at = 4, None

    def frames_of(self, step):
        if step >= self.ends_at:
            raise SourceEnded("No more.")
        if step == self.away_at:
            self.away_at = None
            raise SourceAway("Gone for a moment.")
        return super().frames_of(step)


@pytest.fixture
def short(world):
    return Short(world.options, seed=3)


@pytest.mark.parametrize(("ends_at", "evaluated"), [(3, [1, 2]), (2, [1]), (0, [])])
def test_a_source_that_ends_early_ends_the_run_with_an_evaluation_and_a_warning(short, ends_at, evaluated):
    short.ends_at = ends_at

    events, _ = events_of(short)

    assert events[-1].steps == ends_at
    assert [event for event in events if isinstance(event, StreamEnded)] == [StreamEnded(ends_at)]
    assert [event.step for event in events if isinstance(event, Evaluated)] == evaluated
    assert [event.what for event in events if isinstance(event, Warned)] == [
        f"The source ended after {ends_at} of 4 steps."
    ]


def test_a_source_that_was_away_is_told_with_its_step(short):
    short.away_at = 2

    events, _ = events_of(short)

    assert [event for event in events if isinstance(event, Warned)] == [
        Warned(2, "The source was away: Gone for a moment.")
    ]
    assert [event.step for event in events if isinstance(event, StepLearned)] == [0, 1, 2, 3]


def test_what_looks_wrong_to_the_learner_is_told_with_its_step(world):
    events, _ = events_of(world, score_threshold=1.0, watch_steps=2)

    (warned,) = (event for event in events if isinstance(event, Warned))
    assert warned.step == 1
    assert warned.what.startswith("Pseudo labels have collapsed: 0.00 a frame in the last 2 steps")
    following = events[events.index(warned) + 1]
    assert isinstance(following, StepLearned), "a run that is saved once a step is told must have told all of it"
    assert following.step == 1


def test_a_step_that_the_learner_refuses_is_told_with_the_reason(world):
    stream, learner, evaluator = parts_of(world)
    loss = learner.strategy.detector.loss
    learner.strategy.detector.loss = lambda *given: {name: value * np.nan for name, value in loss(*given).items()}

    events = list(run_stream(stream, learner, evaluator))

    reasons = {event.refused for event in events if isinstance(event, StepLearned)}
    assert len(reasons) == 1
    assert reasons.pop().endswith(" is nan")
