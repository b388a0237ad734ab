"""What every labeller shares: its seed, its budget, its description, its state; and how scores become a choice."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig
from leocod.labelling.base import RECENT, Labeller, LabellerOptions, ScoringLabeller
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.run.choices import LabelsChoice
from leocod.types import Labels


class First(Labeller):
    """Takes the first frames."""

    def choose(self, request):
        return [frame.id for frame in request.frames[: request.most]]


class Told(ScoringLabeller):
    """Has the scores that it is told."""

    scores: tuple[float, ...] = ()

    def score(self, frames, learner):
        return [self.scores[frame.id] for frame in frames]


def test_the_seed_of_the_options_wins_over_that_of_the_experiment():
    assert RandomLabeller(RandomOptions(seed=7), seed=3).seed == 7
    assert RandomLabeller(RandomOptions(), seed=3).seed == 3


def test_a_labeller_describes_itself_by_its_name_and_options():
    described = RandomLabeller(RandomOptions(per_step=2, nested=True), seed=3).describe()

    assert described == {**RandomOptions(per_step=2, nested=True).model_dump(), "name": "random", "seed": 3}


def test_a_labeller_from_elsewhere_is_described_by_module_and_class():
    described = First(LabellerOptions(per_step=1), seed=0).describe()

    assert described["name"].endswith(":First")


def test_a_labeller_has_no_state_unless_it_says_so(pairs, request_for):
    labeller = First()
    labeller.choose(request_for(0, pairs))

    assert labeller.state_dict() == {}


@pytest.mark.parametrize(
    ("budgets", "complaint"),
    [
        ({"total": 100}, "labels: per_step and total: exactly one of per_step, total and per_hour is the budget"),
        ({"per_step": None}, "labels: no budget: exactly one of"),
        ({"per_step": None, "total": 9, "per_hour": 1.5}, "labels: total and per_hour: exactly one of"),
    ],
)
def test_there_is_exactly_one_budget(budgets, complaint):
    with pytest.raises(InvalidConfig, match=complaint):
        LabelsChoice.model_validate(budgets)


def test_the_highest_scores_are_chosen_in_the_order_of_the_frames(pairs, request_for):
    labeller = Told()
    labeller.scores = (0, 5, 0, 9, 7, *[0] * 11)

    assert labeller.choose(request_for(0, pairs, 3)) == [1, 3, 4]


def test_of_equal_scores_the_first_frames_are_chosen(pairs, request_for):
    labeller = Told()
    labeller.scores = (1, 2, 1, 1, *[0] * 12)

    assert labeller.choose(request_for(0, pairs, 3)) == [0, 1, 2]


def test_a_frame_that_nobody_can_label_is_not_scored(pairs, request_for):
    labeller = Told()
    labeller.scores = (*[9] * 3, *[0] * 13)
    known = [(frame, Labels.unknown() if frame.id == 1 else labels) for frame, labels in pairs]

    assert labeller.choose(request_for(0, known, 3)) == [0, 2, 3]


def test_where_nothing_may_be_asked_for_nothing_is_worked_out(pairs, request_for):
    assert Told().choose(request_for(0, pairs, 0)) == []


def carrying():
    return Told(LabellerOptions(per_step=None, total=100))


def test_labels_that_carry_over_wait_for_a_step_that_is_worth_them(pairs, request_for):
    labeller, flat = carrying(), (1.0,) * 16
    labeller.scores = tuple(range(16))
    assert labeller.choose(request_for(0, pairs, 1)) == [15]

    labeller.scores = flat
    assert labeller.choose(request_for(1, pairs, 1)) == []
    labeller.scores = (*flat[:7], 20.0, *flat[8:])
    assert labeller.choose(request_for(2, pairs, 2)) == [7]


def test_the_more_labels_wait_the_less_a_frame_must_score(pairs, request_for):
    labeller = carrying()
    labeller.scores = tuple(range(16))
    labeller.choose(request_for(0, pairs, 1))
    labeller.scores = (*[0.5] * 15, 9.5)

    assert labeller.choose(request_for(1, pairs, 1)) == []
    assert 15 in labeller.choose(request_for(2, pairs, 5))


def test_the_choice_of_a_step_goes_on_from_a_state_and_forgets_old_scores(pairs, request_for):
    one, two = carrying(), carrying()
    for step in range(40):
        one.scores = tuple((7 * step + 3 * number) % 17 for number in range(16))
        one.choose(request_for(step, pairs, 2))

    two.load_state_dict(one.state_dict())
    two.scores = one.scores

    assert len(one.state_dict()["recent"]) == RECENT
    assert one.choose(request_for(40, pairs, 2)) == two.choose(request_for(40, pairs, 2))
