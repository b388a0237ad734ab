"""Forgetfulness: how much worse a class is detected, the longer it has been away."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leocod.evaluation.continual import Table, forgetting_by_class, mean_of_known
from leocod.evaluation.history import History
from leocod.evaluation.metrics.base import Direction, Metric, or_none


class Forgetting(Metric):
    """F = mean over classes of F_c, by the run's definitions; `continual.forgetting_by_class` has the formula."""

    name: ClassVar[str] = "forgetting"
    label: ClassVar[str] = "F"
    title: ClassVar[str] = "{forgetting}"
    direction: ClassVar[Direction] = "lower"
    undefined: ClassVar[str] = "No class was evaluated after different times away, or frames came more than once."

    def compute(self, history: History) -> float | None:
        return or_none(mean_of_known(compute_by_class(history)))


def compute_by_class(history: History) -> Table:
    """F_c of each class; NaN for a class that has none."""
    if not history.single_pass:
        return np.full(len(history.classes), np.nan)
    return forgetting_by_class(
        history.table,
        history.evaluated_steps,
        history.presence,
        bins=history.definitions.forgetting_bins,
        weights=history.definitions.forgetting_weights,
    )
