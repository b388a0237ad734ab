"""What a metric is, which ones there are, and how they are computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, Protocol

from leocod.errors import InvalidConfig
from leocod.evaluation.history import History, Measurement
from leocod.find import Kind

Direction = Literal["higher", "lower"]


class Metric(Protocol):
    """One figure that sums up a run. A pure function of its history, and what to call it.

    A subclass says `name`, `label`, `title`, `direction` and `compute`; the rest has defaults.
    """

    name: ClassVar[str]
    """Its key in results.json. Of a shipped metric, the name of its file."""
    label: ClassVar[str]
    """The heading of its column: FAP."""
    title: ClassVar[str]
    """What it is, in a few words. `{ap}` and `{forgetting}` stand for what the run's definitions call them."""
    direction: ClassVar[Direction]
    """Which is better."""
    unit: ClassVar[str] = "points"
    needs: ClassVar[frozenset[Measurement]] = frozenset({"every evaluation"})
    """What must have been measured. Without it, there is no such figure."""
    undefined: ClassVar[str] = "It is not defined for this run."
    """Why a run that has what it needs may have no value."""

    def compute(self, history: History) -> float | None:
        """Its value, or None where it is not defined."""
        ...


METRICS: Kind[Metric] = Kind(
    "metric",
    "leocod.evaluation.metrics",
    ("compute", "name", "label", "title", "direction", "unit", "needs", "undefined"),
    has_options=False,
)

PAPER_METRICS = ("fap", "cap", "forgetting")
"""Those of the paper come first."""


def list_shipped() -> tuple[str, ...]:
    """The names of all metrics in this folder."""
    return (*PAPER_METRICS, *(name for name in METRICS.names() if name not in PAPER_METRICS))


def find_metrics(names: Iterable[str]) -> list[Metric]:
    """The metrics of these names, each a file of this folder or module:Class."""
    metrics = [METRICS.find(name)() for name in names]
    keys = [metric.name for metric in metrics]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise InvalidConfig(f"Two metrics are called '{twice[0]}': leave one of them out.")
    return metrics


def compute_metrics(metrics: Sequence[Metric], history: History) -> dict[str, float | None]:
    """The value of each metric by its name. A metric that needs what was not measured is left out."""
    return {metric.name: or_none(metric.compute(history)) for metric in metrics if not metric.needs - history.measured}


def or_none(value: float | None) -> float | None:
    """A mean over nothing, which is NaN, is no value."""
    return None if value is None or not math.isfinite(value) else float(value)
