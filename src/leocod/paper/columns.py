"""The metrics that can be the columns of a table, and how each is shown."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from leocod.errors import UnknownName
from leocod.evaluation.metrics.base import METRICS


class Column(NamedTuple):
    """How a metric is shown."""

    label: str
    lower_is_better: bool = False

    @property
    def heading(self) -> str:
        return f"{self.label} {'↓' if self.lower_is_better else '↑'}"


def find_column(metric: str) -> Column:
    """The column of a metric: any file of `evaluation/metrics/`."""
    if metric not in METRICS.names():
        raise UnknownName("metric", metric, METRICS.names())
    found = METRICS.find(metric)
    return Column(found.label, lower_is_better=found.direction == "lower")


def check_metric(metric: str) -> str:
    """The metric, if there is one of this name."""
    find_column(metric)
    return metric


Metric = Annotated[str, AfterValidator(check_metric)]
"""The name of a metric in a table file."""
