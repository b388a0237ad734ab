import pytest

from leocod.conformance.bad_numbers import POISONS, spoil
from leocod.conformance.rules import Trial, detector_of
from leocod.conformance.samples import make_step
from leocod.strategies.icarl import ICaRL


@pytest.mark.parametrize("poison", POISONS)
def test_one_update_is_spoilt_and_the_learner_says_which_number_was_bad(poison):
    learner = Trial(ICaRL, wrapped=False).build()
    learner.learn(make_step(0))

    with spoil(detector_of(learner), POISONS[poison], update=2) as updates:
        spoilt = learner.learn(make_step(1))
    after = learner.learn(make_step(2))

    assert len(updates) == 2
    assert ("gradient" in spoilt.refused) == ("gradient" in poison)
    assert after.refused is None
