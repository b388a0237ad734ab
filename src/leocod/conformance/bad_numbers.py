"""Spoils one update of a step, to see that the step is taken back as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from leocod.conformance.rules import Trial, TriedLearner, detector_of, find_difference, require
from leocod.conformance.samples import make_step
from leocod.detectors.base import Detector

Poison = Callable[[Tensor], Tensor]


class Steep(torch.autograd.Function):
    """Nothing at all, with an infinite gradient."""

    @staticmethod
    def forward(_: Any, value: Tensor) -> Tensor:
        return torch.zeros_like(value)

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        return torch.full_like(gradient, float("inf"))


def steepen(value: Tensor) -> Tensor:
    """The same value, with an infinite gradient."""
    added: Tensor = Steep.apply(value)
    return value + added


POISONS: dict[str, Poison] = {
    "not a number": lambda value: value * float("nan"),
    "infinite": lambda value: value + float("inf"),
    "an infinite gradient": steepen,
}


@contextmanager
def spoil(detector: Detector, poison: Poison | None = None, update: int = 0) -> Iterator[list[int]]:
    """Spoil the losses of one update, counted from 1; yields a list with an entry for each update."""
    plain, updates = detector.loss, list[int]()

    def loss(*batch: Any) -> dict[str, Tensor]:
        losses = plain(*batch)
        # A strategy may also ask for a loss to compare frames by.
        if not torch.is_grad_enabled():
            return losses
        updates.append(len(batch[0]))
        spoilt = poison is not None and len(updates) == update
        return {name: poison(value) for name, value in losses.items()} if spoilt and poison else losses

    vars(detector)["loss"] = loss
    try:
        yield updates
    finally:
        del vars(detector)["loss"]


def learn_poisoned(trial: Trial, *, first: bool, poison: Poison) -> None:
    """Learn a step with a spoilt update, the first or the last, and go on. Raises Broken where anything is left."""
    learner, other = trial.build(), trial.build(seed=9)
    for index in range(2):
        learner.learn(make_step(index))
    other.load_state_dict(learner.state_dict())
    before = _as_learnt(learner)
    update = 1 if first else _count_updates(other)
    with spoil(detector_of(learner), poison, update) as updates:
        learned = learner.learn(make_step(2))

    cure = "What an update changes belongs in trained_state and load_trained_state."
    require(learned.refused is not None, "It learnt a step with a number that is not finite: Learned.refused is None.")
    require(len(updates) == update, f"It made {len(updates)} updates, though number {update} was not finite.")
    require(learned.losses == {}, "A step that was taken back has losses.")
    changed = find_difference(before, _as_learnt(learner))
    require(changed is None, f"A step that was taken back changed {changed}. {cure}")
    other.load_state_dict(learner.state_dict())
    for one in (learner, other):
        require(one.learn(make_step(3)).refused is None, "After a step that was taken back, it learns no other.")
    require(find_difference(before, _as_learnt(learner)) is not None, "The step after it changed nothing.")
    changed = find_difference(learner.state_dict(), other.state_dict())
    require(changed is None, f"After a step that was taken back, a loaded copy differs in {changed}. {cure}")


def _count_updates(learner: TriedLearner) -> int:
    with spoil(detector_of(learner)) as updates:
        learner.learn(make_step(2))
    return len(updates)


def _as_learnt(learner: TriedLearner) -> dict[str, Any]:
    """All that a step may change but for the random generators, which have been asked."""
    state = learner.state_dict()
    strategy = dict(state.get("strategy", state))
    memory = strategy.pop("memory", None) or {}
    return {
        "strategy": {key: value for key, value in strategy.items() if key not in ("random", "loss_scale")},
        "memory": {key: value for key, value in memory.items() if key != "random"},
        "slow": state.get("slow"),
        "steps_learned": state.get("steps_learned"),
        "pseudo_labeller": state.get("pseudo_labeller"),
    }
