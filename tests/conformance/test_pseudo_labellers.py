"""What every pseudo-labeller must hold to. A new file in plugins/pseudo_labellers/ is found by itself."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch

from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
from leocod.plugins.pseudo_labellers.base import PSEUDO_LABELLERS, PseudoLabelRequest
from leocod.strategies.icarl import ICaRL
from leocod.types import Detections

NAMES = [*PSEUDO_LABELLERS.names(), "own_pseudo_labeller:Mirrored"]
"""All there are, and the one in examples/."""


@pytest.fixture(params=NAMES)
def labeller(request):
    return PSEUDO_LABELLERS.find(request.param)()


@pytest.fixture
def ask(a_frame):
    """What is asked about some frames, with two labelled ones of the same step."""

    def make_request(count, slow=None, fast=None):
        frames = [a_frame(number)[0] for number in range(count)]
        return PseudoLabelRequest(frames, [a_frame(8, (0,)), a_frame(9, ())], slow or see(0.9), fast or see(0.6))

    return make_request


def see(score, boxes=((4, 4, 20, 20), (30, 10, 50, 40)), classes=(0, 1)):
    """A learner that sees the same things in every image, of the first it is surer than of the second."""
    scores = np.array([score, score / 2], np.float32)[: len(boxes)]
    found = Detections(np.array(boxes, np.float32).reshape(-1, 4), np.array(classes), scores)
    return lambda images: [found] * len(images)


@pytest.mark.parametrize("count", [0, 1, 12])
def test_it_says_what_is_in_each_frame_the_best_first(labeller, ask, count):
    found = labeller.detect(ask(count))

    assert len(found) == count
    for one in found:
        assert len(one.boxes) == len(one.classes) == len(one.scores)
        assert one.boxes.shape[1] == 4
        assert (np.diff(one.scores) <= 0).all()
        assert ((one.scores >= 0) & (one.scores <= 1)).all()


def test_where_the_learners_see_nothing_there_is_nothing(labeller, ask):
    nothing = see(0.9, boxes=(), classes=())

    assert [len(one) for one in labeller.detect(ask(2, slow=nothing, fast=nothing))] == [0, 0]


def test_it_changes_neither_the_frames_nor_what_the_learners_answered(labeller, ask):
    request = ask(3)
    answers = [request.slow(request.images)[0], request.fast(request.images)[0]]
    before = [[one.boxes.copy(), one.classes.copy(), one.scores.copy()] for one in answers]
    pixels = [image.copy() for image in request.images]

    labeller.detect(request)

    for frame, was in zip(request.frames, pixels, strict=True):
        np.testing.assert_array_equal(frame.image(), was)
    for one, was in zip(answers, before, strict=True):
        for value, copy in zip([one.boxes, one.classes, one.scores], was, strict=True):
            np.testing.assert_array_equal(value, copy)


def test_it_goes_on_from_its_state_as_if_nothing_had_happened(labeller, ask):
    labeller.detect(ask(3))
    file = io.BytesIO()
    torch.save(labeller.state_dict(), file)
    again = type(labeller)()

    again.load_state_dict(torch.load(io.BytesIO(file.getvalue()), weights_only=True))

    for one, other in zip(labeller.detect(ask(3)), again.detect(ask(3)), strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.boxes, other.boxes)


@pytest.mark.parametrize("name", NAMES)
def test_the_plug_in_asks_it_and_resumes_exactly(name, a_detector, a_step):
    def build():
        # Sure of everything: an untrained detector would write nothing.
        return EfficientCLS(ICaRL(a_detector()), EfficientCLSOptions(labeller=name, score_threshold=0.01))

    whole, first, second = build(), build(), build()
    steps = [a_step(index, frames=4, labelled=2) for index in range(4)]
    for step in steps:
        expected = whole.learn(step)
    for step in steps[:2]:
        first.learn(step)
    second.load_state_dict(first.state_dict())
    for step in steps[2:]:
        resumed = second.learn(step)

    assert sum(len(labels) for labels in expected.pseudo.values()) > 0
    assert list(resumed.pseudo) == list(expected.pseudo)
    for number, labels in expected.pseudo.items():
        np.testing.assert_array_equal(resumed.pseudo[number].boxes, labels.boxes)
