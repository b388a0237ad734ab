"""What every labeller must hold to. A new file in labelling/ is found by itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from leocod.errors import InvalidConfig
from leocod.labelling.base import LABELLERS, LabelRequest, StreamInfo
from leocod.types import Detections, Labels

NAMES = [*LABELLERS.names(), "own_labeller:LeastSure"]
"""All there are, and the one in examples/."""

BUDGETS = (0, 1, 2, 4, 16)


@pytest.fixture(params=NAMES)
def make(request):
    """Builds the labeller for a stream of steps of 16 frames, in which a published choice is the first frames."""
    kind = LABELLERS.find(request.param)

    def build(per_step=4, seed=3, **options):
        published = lambda cost: frozenset(16 * step + number for step in range(9) for number in range(cost))  # noqa: E731
        info = StreamInfo("walk", ("mug", "book", "car"), 9, published)
        try:
            return kind(kind.Options(per_step=per_step, **options), seed=seed, stream=info)
        except InvalidConfig as error:
            pytest.skip(f"it has another budget: {error}")

    return build


@pytest.fixture
def ask(a_frame):
    """What is asked at a step; frames that nobody can label are left out of what is available."""

    def make_request(step, unknown=(), most=4):
        frames = [a_frame(16 * step + number)[0] for number in range(16)]
        available = frozenset(frame.id for frame in frames if frame.id not in unknown)
        return LabelRequest(step, frames, available, most, Pupil())

    return make_request


class Pupil:
    """A learner whose answers differ from frame to frame, and depend on the frame alone."""

    def predict(self, frames):
        return [_detect(frame.id % 11) for frame in frames]

    def predict_fast(self, frames):
        return [_detect(frame.id % 7) for frame in frames]

    def describe(self, frames):
        return np.array([[frame.id % 5, frame.id % 3] for frame in frames], np.float32).reshape(-1, 2)

    def describe_memory(self, most):
        return np.array([[2, 1], [4, 2]], np.float32)[:most]


def _detect(number):
    """Two boxes, of which it is more or less sure."""
    boxes = np.array([[0, 0, 9, 9], [5, 5, 20, 20]], np.float32)
    return Detections(boxes, np.array([0, number % 2]), np.array([0.9, number / 11], np.float32))


def test_it_has_options_with_a_budget_and_says_what_it_does(make):
    labeller = make()

    assert {"per_step", "seed"} <= set(type(labeller.options).model_fields)
    assert type(labeller).__doc__
    assert labeller.describe()["per_step"] == 4


@pytest.mark.parametrize("per_step", BUDGETS)
def test_it_chooses_frames_of_the_step_and_no_more_than_the_budget(make, ask, per_step):
    for step in range(3):
        request = ask(step, most=per_step)

        chosen = list(make(per_step).choose(request))

        assert len(chosen) == len(set(chosen)) <= per_step
        assert set(chosen) <= {frame.id for frame in request.frames}


def test_it_asks_for_nothing_where_nobody_can_label(make, ask):
    request = ask(0, unknown=range(16))

    assert set(make().choose(request)) & request.available == set()


def test_equal_seeds_choose_equally_and_an_empty_step_is_nothing_to_choose_from(make, ask):
    one, two = make(seed=5), make(seed=5)

    assert [list(one.choose(ask(step))) for step in range(4)] == [list(two.choose(ask(step))) for step in range(4)]
    assert list(one.choose(LabelRequest(4, [], frozenset(), 4, Pupil()))) == []


BUDGETS_OF_ALL_KINDS = [{"per_step": 4}, {"per_step": None, "total": 36}]


@pytest.mark.parametrize("budget", BUDGETS_OF_ALL_KINDS, ids=str)
def test_saved_and_loaded_it_goes_on_the_same(make, ask, budget):
    one, two = make(**budget), make(**budget)
    for step in range(2):
        one.choose(ask(step))

    two.load_state_dict(pickle.loads(pickle.dumps(one.state_dict())))

    assert [list(one.choose(ask(step))) for step in (2, 3)] == [list(two.choose(ask(step))) for step in (2, 3)]


def test_under_a_budget_that_carries_over_it_chooses_no_more_than_it_may(make, ask):
    labeller = make(per_step=None, total=36)

    chosen = [len(list(labeller.choose(ask(step, most=most)))) for step, most in enumerate((3, 0, 16, 1))]

    assert all(count <= most for count, most in zip(chosen, (3, 0, 16, 1), strict=True))
    assert chosen[0] == 3, "at first there is nothing better to compare with"


def test_it_holds_no_label(make, ask, reachable):
    labeller = make()
    for step in range(3):
        labeller.choose(ask(step))

    assert not any(isinstance(one, Labels) for one in reachable(labeller))
