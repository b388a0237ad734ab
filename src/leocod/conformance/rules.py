"""A rule, what it is tried on, and what came out."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from leocod.conformance.samples import make_detector
from leocod.detectors.base import Detector
from leocod.errors import LeocodError
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.strategies.base import Strategy
from leocod.types import Frame, LabelledFrame, Labels

SOON = ("boundary_every", "warp_every")
"""Options that say after how many steps something happens: in the few steps of a rule it should have happened."""

MISSING = object()

TriedLearner = Strategy | EfficientCLS


class Broken(LeocodError):
    """A rule that a learner does not hold to; the message says what was seen, and the cure."""


@dataclass(frozen=True)
class Trial:
    """A strategy to try, bare or inside Efficient-CLS."""

    kind: type[Strategy]
    wrapped: bool
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that differ from their defaults."""

    def build(self, seed: int = 0, **options: Any) -> TriedLearner:
        """The learner anew, from the same weights. Of `options` it gets those that it has.

        An untrained detector is sure of nothing, so the pseudo labels come from elsewhere.
        """
        fields = self.kind.Options.model_fields
        chosen = {key: value for key, value in (dict.fromkeys(SOON, 2) | options).items() if key in fields}
        settings = self.kind.Options.model_validate({**chosen, **self.options})
        # Tiny names its own Options, which mypy takes for another attribute than that of the protocol.
        detector: Any = make_detector()
        strategy = self.kind(detector, settings, seed=seed)
        return EfficientCLS(strategy, seed=seed, labeller=label_by_id) if self.wrapped else strategy


@dataclass(frozen=True)
class Rule:
    """One thing that must hold."""

    name: str
    """A sentence about the strategy, without its subject: 'learns an empty step'."""
    check: Callable[[Trial], None]
    """Raises Broken where the rule does not hold."""
    slow: bool = False


@dataclass(frozen=True)
class Verdict:
    """What came out of a rule."""

    rule: Rule
    problem: str | None
    """What was seen instead; None where the rule holds."""


def check_rules(rules: Sequence[Rule], trial: Trial) -> Iterator[Verdict]:
    """Try every rule. Whatever a strategy raises is a problem of its own, and the other rules are still tried."""
    for rule in rules:
        try:
            rule.check(trial)
        except LeocodError as error:
            yield Verdict(rule, str(error))
        except Exception as error:
            yield Verdict(rule, f"{type(error).__name__}: {error} ({_find_place(error)}).")
        else:
            yield Verdict(rule, None)


def require(holds: bool, problem: str) -> None:
    """Raise Broken with the problem unless the condition holds."""
    if not holds:
        raise Broken(problem)


def require_finite(losses: Mapping[str, float]) -> None:
    """Raise Broken for the first loss that is not finite."""
    for name, value in losses.items():
        require(bool(np.isfinite(value)), f"The loss {name} is {value}: it should be finite.")


def strategy_of(learner: TriedLearner) -> Strategy:
    """The strategy, without the plug-in around it."""
    return learner.strategy if isinstance(learner, EfficientCLS) else learner


def detector_of(learner: TriedLearner) -> Detector:
    """The detector that is trained."""
    return strategy_of(learner).detector


def find_difference(one: Any, two: Any, path: str = "") -> str | None:
    """The first place in which two states differ, such as `optimizer.state.0`; None where they are equal."""
    if isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor):
        return None if torch.equal(one, two) else path or "the tensor"
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return None if np.array_equal(one, two) else path or "the array"
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        inner = {key: (one.get(key, MISSING), two.get(key, MISSING)) for key in [*one, *two]}
    elif isinstance(one, list | tuple) and isinstance(two, list | tuple) and len(one) == len(two):
        inner = dict(enumerate(zip(one, two, strict=True)))
    else:
        return None if type(one) is type(two) and bool(one == two) else path or "the value"
    differences = (find_difference(*pair, f"{path}.{key}" if path else str(key)) for key, pair in inner.items())
    return next((path for path in differences if path), None)


def label_by_id(frames: Sequence[Frame], labelled: Sequence[LabelledFrame]) -> list[Labels]:
    """Pseudo labels with a box in each frame, by the frame alone."""
    return [Labels(np.array([[5, 5, 25, 25 + frame.id % 7]]), np.array([frame.id % 3])) for frame in frames]


def _find_place(error: Exception) -> str:
    """Where an error was raised: the last line outside this package and its libraries, else the last line."""
    calls = traceback.extract_tb(error.__traceback__)
    package = Path(__file__).parents[1]
    own = [
        call
        for call in calls
        if not Path(call.filename).is_relative_to(package) and "site-packages" not in Path(call.filename).parts
    ]
    call = (own or calls)[-1]
    return f"{Path(call.filename).name}, line {call.lineno}"
