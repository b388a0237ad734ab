import numpy as np
import pytest
import torch

from leocod.conformance.rules import Broken, Rule, Trial, check_rules, find_difference, require_finite
from leocod.errors import InvalidConfig
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.strategies.ewc import EWC
from leocod.strategies.icarl import ICaRL


def test_the_first_difference_of_two_states_is_named():
    one = {"weights": {"a": torch.zeros(2), "b": [1, np.zeros(2)]}, "steps": 3}
    two = {"weights": {"a": torch.zeros(2), "b": [1, np.ones(2)]}, "steps": 4}

    assert find_difference(one, two) == "weights.b.1"
    assert find_difference(one, {**one, "more": 1}) == "more"
    assert find_difference({"a": None}, {"b": None}) == "a"
    assert find_difference(one, one) is None


def test_a_learner_is_built_bare_or_wrapped_with_the_options_that_it_has():
    bare, wrapped = Trial(ICaRL, wrapped=False).build(recipe="joint"), Trial(EWC, wrapped=True).build(memory_store="x")

    assert bare.options.recipe == "joint"
    assert isinstance(wrapped, EfficientCLS)
    assert wrapped.strategy.options.boundary_every == 2


def test_options_of_the_user_win():
    assert Trial(EWC, wrapped=False, options={"boundary_every": 7}).build().options.boundary_every == 7


def test_every_rule_is_tried_whatever_the_one_before_raised():
    def cannot(trial):
        raise InvalidConfig("needs logits.")

    def breaks(trial):
        raise Broken("It changed.")

    def crashes(trial):
        return {}["a"]

    rules = [Rule("one", cannot), Rule("two", breaks), Rule("three", crashes), Rule("four", lambda trial: None)]
    problems = [verdict.problem for verdict in check_rules(rules, Trial(ICaRL, wrapped=False))]

    assert problems[:2] == ["needs logits.", "It changed."]
    assert problems[2].startswith("KeyError: 'a' (test_rules.py, line ")
    assert problems[3] is None


def test_a_loss_that_is_not_finite_is_named():
    with pytest.raises(Broken, match="The loss replay/box is nan"):
        require_finite({"current/box": 1.0, "replay/box": float("nan")})
