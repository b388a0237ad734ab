"""What every labeller must hold to. A new file in labelling/ is found by itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from leocod.labelling.base import LABELLERS, LabelRequest, StreamInfo
from leocod.types import Detections, Labels

NAMES = [*LABELLERS.names(), "own_labeller:LeastSure"]
"""All there are, and the one in examples/."""

BUDGETS = (0, 1, 2, 4, 16)


@pytest.fixture(params=NAMES)
def make(request):
    """Builds the labeller for a stream of steps of 16 frames, in which a published choice is the first frames."""
    kind = LABELLERS.find(request.param)

    def build(per_step=4, seed=3):
        published = lambda cost: frozenset(16 * step + number for step in range(9) for number in range(cost))  # noqa: E731
        info = StreamInfo("walk", ("mug", "book", "car"), 9, published)
        return kind(kind.Options(per_step=per_step), seed=seed, stream=info)

    return build


@pytest.fixture
def ask(a_frame):
    """What is asked at a step; frames that nobody can label are left out of what is available."""

    def make_request(step, unknown=()):
        frames = [a_frame(16 * step + number)[0] for number in range(16)]
        available = frozenset(frame.id for frame in frames if frame.id not in unknown)
        return LabelRequest(step, frames, available, predict)

    return make_request


def predict(frames):
    """A learner that is more or less sure of two boxes in each frame, by the frame alone."""
    boxes = np.array([[0, 0, 9, 9], [5, 5, 20, 20]], np.float32)
    return [Detections(boxes, np.array([0, 1]), np.array([0.9, (frame.id % 11) / 11], np.float32)) for frame in frames]


def test_it_has_options_with_a_budget_and_says_what_it_does(make):
    labeller = make()

    assert {"per_step", "seed"} <= set(type(labeller.options).model_fields)
    assert type(labeller).__doc__
    assert labeller.describe()["per_step"] == 4


@pytest.mark.parametrize("per_step", BUDGETS)
def test_it_chooses_frames_of_the_step_and_no_more_than_the_budget(make, ask, per_step):
    for step in range(3):
        request = ask(step)

        chosen = list(make(per_step).choose(request))

        assert len(chosen) == len(set(chosen)) <= per_step
        assert set(chosen) <= {frame.id for frame in request.frames}


def test_it_asks_for_nothing_where_nobody_can_label(make, ask):
    request = ask(0, unknown=range(16))

    assert set(make().choose(request)) & request.available == set()


def test_equal_seeds_choose_equally_and_an_empty_step_is_nothing_to_choose_from(make, ask):
    one, two = make(seed=5), make(seed=5)

    assert [list(one.choose(ask(step))) for step in range(4)] == [list(two.choose(ask(step))) for step in range(4)]
    assert list(one.choose(LabelRequest(4, [], frozenset(), predict))) == []


def test_saved_and_loaded_it_goes_on_the_same(make, ask):
    one, two = make(), make()
    for step in range(2):
        one.choose(ask(step))

    two.load_state_dict(pickle.loads(pickle.dumps(one.state_dict())))

    assert [list(one.choose(ask(step))) for step in (2, 3)] == [list(two.choose(ask(step))) for step in (2, 3)]


def test_it_holds_no_label(make, ask, reachable):
    labeller = make()
    for step in range(3):
        labeller.choose(ask(step))

    assert not any(isinstance(one, Labels) for one in reachable(labeller))
