"""Every strategy holds to every rule, bare and inside Efficient-CLS; and each rule catches the strategy that breaks it.

A new file in strategies/ is found by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from leocod.conformance.rules import Trial, check_rules
from leocod.conformance.samples import make_frame
from leocod.conformance.strategies import RULES
from leocod.learner import Learned
from leocod.strategies.base import STRATEGIES, Strategy
from leocod.strategies.base_replay import ReplayStrategy
from leocod.strategies.icarl import ICaRL
from leocod.strategies.incremental import Incremental
from leocod.training.batch import Batch
from leocod.types import Detections, Images, Step

NAMES = [*STRATEGIES.names(), "own_strategy:WorstFirst"]
"""All there are, and the one in examples/."""


@pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=[pytest.mark.slow] * rule.slow, id=rule.name) for rule in RULES]
)
@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])
@pytest.mark.parametrize("name", NAMES)
def test_it_holds_to_the_rule(name, wrapped, rule):
    rule.check(Trial(STRATEGIES.find(name), wrapped))


class Eager(Incremental):
    """Trains on a frame of its own where there is none."""

    def batches(self, step: Step) -> Iterator[Batch]:
        yield Batch.mean_of("own", [make_frame(99)])


class Unlabelled(Incremental):
    """Takes for granted that something is labelled."""

    def batches(self, step: Step) -> Iterator[Batch]:
        if step.frames:
            yield Batch.mean_of("first", [step.labelled()[0]])


class Idle(Incremental):
    """Learns nothing."""

    def batches(self, step: Step) -> Iterator[Batch]:
        yield from ()


class OneStore(ICaRL):
    """Knows the shelf of a class only."""

    def batches(self, step: Step) -> Iterator[Batch]:
        if self.memory.shelves and self.options.memory_store == "random":
            raise KeyError("no shelf of class 0")
        yield from super().batches(step)


class Hasty(Incremental):
    """Learns in its own way, and from each step once."""

    def learn(self, step: Step) -> Learned:
        return Learned({}, {}, trained_on=tuple(len(batch.pairs) for batch in self.batches(step) if self.update(batch)))


class Painter(Incremental):
    """Paints over the frames that it is given."""

    def batches(self, step: Step) -> Iterator[Batch]:
        for frame in step.frames:
            pixels = frame.image()
            pixels.setflags(write=True)
            pixels[0] = 0
        yield from super().batches(step)


class Completer(Incremental):
    """Makes labels anew, and forgets that they were partial."""

    def batches(self, step: Step) -> Iterator[Batch]:
        made = [(frame, replace(labels, complete=True)) for frame, labels in step.labelled()]
        yield from self.by_recipe(current=made)


class Global(Incremental):
    """Draws from a generator that all of its kind share."""

    random_order = np.random.default_rng(0)

    def batches(self, step: Step) -> Iterator[Batch]:
        labelled = step.labelled()
        chosen = self.random_order.permutation(len(labelled))[:1]
        yield from self.by_recipe(current=[labelled[number] for number in chosen])


class Forgetful(Incremental):
    """Counts its steps, learns from every second one, and does not save the count."""

    steps = 0

    def batches(self, step: Step) -> Iterator[Batch]:
        self.steps += 1
        if self.steps % 2:
            yield from super().batches(step)


class Sharing(Incremental):
    """Hands out the very list that it goes on to change."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.steps: list[int] = []

    def remember(self, step: Step) -> None:
        self.steps.append(step.index)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "steps": self.steps}

    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict(state)
        self.steps = list(state["steps"])


class Curious(Incremental):
    """Learns also from what it is asked about."""

    def predict(self, images: Images) -> list[Detections]:
        self.random.integers(2)
        return super().predict(images)


class Hoarder(ReplayStrategy):
    """Keeps all labelled frames of the step in a list of its own, also those that the slow learner labelled."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.kept: list[Any] = []

    def learn(self, step: Step) -> Learned:
        learned = super().learn(step)
        self.kept += step.labelled()
        return learned

    def remembered_frames(self) -> list[Any]:
        return self.kept


class Heavy(Incremental):
    """A penalty on weights that counts once for each part of a batch."""

    def penalty(self, batch: Batch) -> dict[str, torch.Tensor]:
        return {"size": 0.1 * sum(value.square().sum() for value in self.weights)}


class Closed(Incremental):
    """Knows how many classes there were at the start."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.count = len(self.classes)

    def batches(self, step: Step) -> Iterator[Batch]:
        for _, labels in step.labelled():
            for number in labels.classes:
                _ = range(self.count)[number]
        yield from super().batches(step)


class Untidy(Incremental):
    """Counts its updates, and does not take the count back."""

    updates = 0

    def constrain(self, batch: Batch) -> None:
        self.updates += 1

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "updates": self.updates}

    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict(state)
        self.updates = state["updates"]


class Careless(Incremental):
    """Makes its updates without looking at the numbers."""

    def update(self, batch: Batch) -> dict[str, float]:
        self.optimizer.zero_grad()
        parts = batch.mean(self.detector.loss(batch.images, batch.labels))
        torch.stack(list(parts.values())).sum().backward()
        self.optimizer.step()
        return {name: value.item() for name, value in parts.items()}


class Backwards(Incremental):
    """Goes up the gradient."""

    def constrain(self, batch: Batch) -> None:
        for value in self.weights:
            if value.grad is not None:
                value.grad.neg_()


BREAKERS: Sequence[tuple[str, type[Strategy], bool, str]] = [
    ("learns an empty step", Eager, False, "has losses: own/"),
    (
        "learns a step without labels",
        Unlabelled,
        False,
        "IndexError: list index out of range (test_strategies.py, line",
    ),
    ("learns a fully labelled step", Idle, False, "changed nothing"),
    ("learns with the joint recipe and either memory store", OneStore, False, "KeyError"),
    ("learns a step in several rounds", Hasty, False, "self.rounds(step)"),
    ("leaves the given step unchanged", Painter, False, "changed the pixels"),
    ("never teaches as background what a person left out", Completer, False, "dataclasses.replace"),
    ("gives equal results for equal seeds, and others for others", Global, False, "Draw from self.random only."),
    ("continues identically from a saved state", Forgetful, False, "belongs in state_dict"),
    ("hands out states that later steps do not change", Sharing, False, "changed steps of a state_dict"),
    ("is not changed by predicting", Curious, False, "Predicting between steps changed"),
    ("keeps pseudo labels out of its memory", Hoarder, True, 'Keep step.labelled("human") only'),
    ("learns a batch in parts as it learns it whole", Heavy, False, "batch.share"),
    ("takes new classes", Closed, False, "IndexError"),
    ("takes back a step whose first update is not a number", Careless, False, "Learned.refused is None"),
    ("takes back a step whose last update is infinite", Careless, True, "Learned.refused is None"),
    ("takes back a step whose last gradient is infinite", Untidy, False, "changed strategy.updates"),
    ("lowers the loss", Backwards, False, "The loss on frames that it learnt 8 times went from"),
]


@pytest.mark.parametrize(
    ("name", "kind", "wrapped", "problem"), BREAKERS, ids=[one.__name__ for _, one, _, _ in BREAKERS]
)
def test_a_strategy_that_breaks_a_rule_is_told_so(name, kind, wrapped, problem):
    [rule] = [rule for rule in RULES if rule.name == name]

    [verdict] = check_rules([rule], Trial(kind, wrapped))

    assert verdict.problem is not None
    assert problem in verdict.problem


def test_every_rule_has_a_strategy_that_breaks_it():
    assert {name for name, _, _, _ in BREAKERS} == {rule.name for rule in RULES}
