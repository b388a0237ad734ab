"""The test frames of an earlier stream, tried again: what a new stream costs on what was learnt before it."""

from __future__ import annotations

from dataclasses import dataclass

from leocod.evaluation.evaluator import Evaluator
from leocod.types import Predict


@dataclass(frozen=True)
class Retest:
    """The test of an earlier run, and how its classes are detected now."""

    name: str
    """Of the earlier run."""
    evaluator: Evaluator
    predict: Predict
    """Detects in the class numbers of the earlier run."""

    def evaluate(self) -> dict[str, float | None]:
        """AP by class name, 0 to 1; None for a class without a test box."""
        return self.evaluator.evaluate(self.predict)[0]
