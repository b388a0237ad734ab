import pytest

from leocod.errors import Diverged
from leocod.events import Evaluated, StepFinished, StepLearned
from leocod.run.record.guard import Guard


def told(guard: Guard, *refusals: str | None) -> None:
    """So many steps, each refused for a reason or learnt."""
    for step, refused in enumerate(refusals):
        guard(StepLearned(step, {}, (), (), (), None, 0, {}, refused=refused))
        guard(Evaluated(step, {}, 0.1, {}))
        guard(StepFinished(step))


def test_it_ends_the_run_after_so_many_refused_steps_in_a_row_and_names_the_last() -> None:
    guard = Guard(2)
    told(guard, None, "the loss a is nan")
    guard.check()

    told(guard, "the loss b is inf", "the loss c is nan")

    with pytest.raises(Diverged, match=r"in 3 steps in a row, the last being step 1: the loss c is nan\."):
        guard.check()


def test_a_step_that_is_learnt_begins_the_count_anew() -> None:
    guard = Guard(2)

    told(guard, "nan", None, "nan")

    guard.check()


def test_the_count_goes_on_from_a_state() -> None:
    one, two = Guard(2), Guard(2)
    told(one, "nan")

    two.load_state_dict(one.state_dict())
    two.check()
    told(two, "inf")

    with pytest.raises(Diverged, match="2 steps in a row"):
        two.check()
