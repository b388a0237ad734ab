"""What every labeller shares: its seed, its description, its state."""

from __future__ import annotations

from leocod.labelling.base import Labeller, LabellerOptions
from leocod.labelling.random import RandomLabeller, RandomOptions


class First(Labeller):
    """Takes the first frames."""

    def choose(self, request):
        return [frame.id for frame in request.frames[: self.options.per_step]]


def test_the_seed_of_the_options_wins_over_that_of_the_experiment():
    assert RandomLabeller(RandomOptions(seed=7), seed=3).seed == 7
    assert RandomLabeller(RandomOptions(), seed=3).seed == 3


def test_a_labeller_describes_itself_by_its_name_and_options():
    described = RandomLabeller(RandomOptions(per_step=2, nested=True), seed=3).describe()

    assert described == {"name": "random", "per_step": 2, "seed": 3, "nested": True}


def test_a_labeller_from_elsewhere_is_described_by_module_and_class():
    described = First(LabellerOptions(per_step=1), seed=0).describe()

    assert described["name"].endswith(":First")


def test_a_labeller_has_no_state_unless_it_says_so(pairs, request_for):
    labeller = First()
    labeller.choose(request_for(0, pairs))

    assert labeller.state_dict() == {}
