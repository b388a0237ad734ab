"""The metrics that can be the columns of a table, and how each is shown."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from leocod.errors import UnknownName

PAPER_METRICS = ("fap", "cap", "forgetting")
"""The metrics of the paper's figures, in their order."""


class Column(NamedTuple):
    """How a metric is shown."""

    label: str
    lower_is_better: bool = False

    @property
    def heading(self) -> str:
        return f"{self.label} {'↓' if self.lower_is_better else '↑'}"


def find_column(metric: str) -> Column:
    """The column of a metric."""
    known = {"fap": Column("FAP"), "cap": Column("CAP"), "forgetting": Column("F", lower_is_better=True)}
    if metric not in known:
        raise UnknownName("metric", metric, known)
    return known[metric]


def check_metric(metric: str) -> str:
    """The metric, if there is one of this name."""
    find_column(metric)
    return metric


Metric = Annotated[str, AfterValidator(check_metric)]
"""The name of a metric in a table file."""
