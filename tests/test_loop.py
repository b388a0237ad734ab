"""The loop tells what happened, in order, and lets nobody disturb the learner."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.benchmarks.base import Stream
from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.efficient_cls import EfficientCLS, EfficientCLSOptions
from leocod.evaluation.evaluator import Evaluator
from leocod.events import Evaluated, RunFinished, StepFinished, StepLearned
from leocod.labelling import BudgetLabeller
from leocod.loop import run
from leocod.strategies.icarl import ICaRL


@pytest.fixture(scope="module")
def world():
    return Wander(WanderOptions(steps=4, frames_per_step=6, width=64, height=48), seed=3)


def events_of(world, every=2, start=0, style="coco"):
    detector = Tiny(world.classes, TinyOptions(weights=None, short_side=48, regions=16, proposals=24))
    learner = EfficientCLS(ICaRL(detector), EfficientCLSOptions(score_threshold=0.05))
    stream = Stream(world, BudgetLabeller(2, seed=0))
    evaluator = Evaluator(world.test, world.classes, every=every, last_step=world.steps - 1, style=style)
    return list(run(stream, learner, evaluator, start)), learner


def test_events_come_in_order(world):
    events, _ = events_of(world)

    names = [type(event).__name__ for event in events]
    assert names == [
        *("StepLearned", "StepFinished", "StepLearned", "Evaluated", "StepFinished"),
        *("StepLearned", "StepFinished", "StepLearned", "Evaluated", "StepFinished"),
        "RunFinished",
    ]
    assert isinstance(events[-1], RunFinished)
    assert [event.step for event in events if isinstance(event, StepFinished)] == [0, 1, 2, 3]


def test_a_step_is_told_with_what_the_learner_could_not_see(world):
    events, _ = events_of(world)

    first = next(event for event in events if isinstance(event, StepLearned))
    true = [labels.classes for _, labels in world.moment(0)]
    assert first.present == tuple(np.unique(np.concatenate(true)).tolist())
    assert set(first.labelled) <= set(first.present)
    assert len(first.labelled_ids) == 2
    assert first.audit is not None
    assert first.audit.frames == 4
    assert first.memory_bytes > 0
    assert {"stream", "train", "pseudo labels"} <= set(first.seconds)


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
