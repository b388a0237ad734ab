from __future__ import annotations

import pytest

from leocod.learner import Learner
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.plugins.open_classes import OpenClasses
from leocod.strategies.icarl import ICaRL

WHAT_THE_LOOP_NEEDS = [name for name in vars(Learner) if not name.startswith("_")]


@pytest.mark.parametrize("wrap", [lambda one: one, EfficientCLS, lambda one: OpenClasses(one, ("mug",))])
def test_every_kind_of_learner_answers_all_that_is_asked(wrap, a_detector):
    learner = wrap(ICaRL(a_detector()))

    assert len(WHAT_THE_LOOP_NEEDS) == 11
    assert [name for name in WHAT_THE_LOOP_NEEDS if not hasattr(learner, name)] == []
