"""The figures of a run by class, as far as they are means over classes: FAP, CAP and F."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from leocod.evaluation.history import History
from leocod.evaluation.metrics.forgetting import compute_by_class
from leocod.evaluation.results import Results

ByClass = dict[str, dict[str, float]]
"""Metric -> class -> figure in points; without classes that have none."""


def measure_by_class(results: Results, read_history: Callable[[], History | None]) -> ByClass:
    """FAP, CAP and F of each class. `read_history` is called only where there is an F; None: nobody knows it."""
    if not results.evaluations:
        return {}
    over_time: dict[str, list[float]] = defaultdict(list)
    for evaluation in results.evaluations:
        for name, value in evaluation.ap_by_class.items():
            if value is not None:
                over_time[name].append(value)
    last = {name: value for name, value in results.evaluations[-1].ap_by_class.items() if value is not None}
    found = {"fap": last, "cap": {name: float(np.mean(values)) for name, values in over_time.items()}}
    if results.scores.get("forgetting") is not None and (history := read_history()) is not None:
        values = zip(history.classes, compute_by_class(history).tolist(), strict=True)
        found["forgetting"] = {name: value for name, value in values if not np.isnan(value)}
    return {metric: values for metric, values in found.items() if values and metric in results.scores}
