"""A class list that grows: the detector's own numbers inside, the stream's numbers outside."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.plugins.open_classes import OpenClasses
from leocod.strategies.icarl import ICaRL
from leocod.strategies.incremental import Incremental
from leocod.types import Detections, Labels, Step

STREAM = ("book", "car", "Dining Table", "mug")
SMALL = TinyOptions(weights=None, short_side=48, regions=16, proposals=24)


def step_of(a_frame, *classes, index=0):
    """One labelled frame for each tuple of class numbers of the stream."""
    pairs = [a_frame(10 * index + number, tuple(range(len(own)))) for number, own in enumerate(classes)]
    labels = {frame.id: Labels(one.boxes, own) for (frame, one), own in zip(pairs, classes, strict=True)}
    return Step(index, tuple(frame for frame, _ in pairs), labels)


def test_a_class_is_added_with_its_first_label_and_not_before(a_frame):
    learner = OpenClasses(Incremental(Tiny(("mug",), SMALL)), STREAM)

    learner.learn(step_of(a_frame, (3,), ()))
    before = learner.classes
    learner.learn(step_of(a_frame, (1, 3), (0,), index=1))

    assert before == ("mug",)
    assert learner.classes == ("mug", "car", "book")


def test_names_that_mean_the_same_are_one_class(a_frame):
    learner = OpenClasses(Incremental(Tiny(("diningtable",), SMALL)), STREAM)

    learner.learn(step_of(a_frame, (2,)))

    assert learner.classes == ("diningtable",)


def test_classes_that_the_stream_tells_apart_stay_apart_though_they_mean_the_same_elsewhere(a_frame):
    learner = OpenClasses(ICaRL(Tiny(("tvmonitor",), SMALL)), ("tv", "monitor"))

    learner.learn(step_of(a_frame, (0,)))
    learner.learn(step_of(a_frame, (1,), index=1))

    assert learner.classes == ("tvmonitor", "monitor")
    assert [labels.classes.tolist() for _, labels in learner.remembered_frames()] == [[0], [1]]


def test_the_strategy_learns_its_own_numbers_and_the_stream_hears_its_own(a_frame):
    strategy = ICaRL(Tiny(("mug",), SMALL))
    learner = OpenClasses(strategy, STREAM)

    learner.learn(step_of(a_frame, (1,), (3, 0)))

    assert [labels.classes.tolist() for _, labels in strategy.memory.frames] == [[1], [0, 2]]
    assert [labels.classes.tolist() for _, labels in learner.remembered_frames()] == [[1], [3, 0]]


def test_what_the_stream_has_no_name_for_is_not_told(a_frame):
    learner = OpenClasses(Incremental(Tiny(("aeroplane", "car"), SMALL)), STREAM)
    found = Detections(np.array([[0, 0, 5, 5], [1, 1, 6, 6]], np.float32), np.array([0, 1]), np.array([0.9, 0.8]))
    learner.learner.detector.predict = lambda images: [found]

    (told,) = learner.predict([np.zeros((8, 8, 3), np.uint8)])

    assert told.classes.tolist() == [1]
    assert told.scores.tolist() == [0.8]


def test_the_fast_learner_is_heard_in_the_streams_numbers_too(a_frame, monkeypatch):
    learner = OpenClasses(EfficientCLS(ICaRL(Tiny(("mug",), SMALL))), STREAM)
    found = Detections(np.array([[1, 2, 9, 9]], np.float32), np.array([0]), np.array([0.8], np.float32))
    monkeypatch.setattr(learner.learner.strategy.detector, "predict", lambda images: [found])

    [told] = learner.predict_fast([a_frame(0)[0].image()])

    assert (told.classes.tolist(), told.scores.tolist()) == ([3], found.scores.tolist())


def test_it_can_start_from_nothing(a_frame):
    learner = OpenClasses(EfficientCLS(ICaRL(Tiny((), SMALL))), STREAM)
    image = step_of(a_frame, ()).frames[0].image()

    nothing = learner.predict([image])
    learned = learner.learn(step_of(a_frame, (0,), (1,)))

    assert len(nothing[0]) == 0
    assert learner.classes == ("book", "car")
    assert all(np.isfinite(value) for value in learned.losses.values())
    assert all(np.isin(one.classes, (0, 1)).all() for one in learner.predict([image]))


@pytest.mark.parametrize("wrap", [lambda one: one, EfficientCLS])
def test_a_grown_learner_goes_on_from_its_state(wrap, a_frame):
    one, two = (OpenClasses(wrap(ICaRL(Tiny(("mug",), SMALL))), STREAM) for _ in range(2))
    one.learn(step_of(a_frame, (0,), (1, 3)))

    two.load_state_dict(one.state_dict())
    losses = [learner.learn(step_of(a_frame, (2,), (0,), index=1)).losses for learner in (one, two)]

    assert two.classes == one.classes == ("mug", "book", "car", "Dining Table")
    assert losses[0] == losses[1]


def test_pseudo_labels_are_told_in_the_streams_numbers(a_frame):
    learner = OpenClasses(
        EfficientCLS(
            Incremental(Tiny(("mug",), SMALL)),
            labeller=lambda frames, labelled: [Labels([[1, 1, 9, 9]], [0]) for _ in frames],
        ),
        STREAM,
    )
    step = step_of(a_frame, (1,), ())
    step = Step(0, step.frames, {step.frames[0].id: step.labels[step.frames[0].id]})

    learned = learner.learn(step)

    assert learned.pseudo[step.frames[1].id].classes.tolist() == [3]
