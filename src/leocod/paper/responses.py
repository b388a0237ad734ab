"""How a stream responds: what becomes of a baseline with fewer labels, more memory or another strategy, as ratios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from leocod.errors import InvalidConfig
from leocod.paper.outcome import Outcome, mean
from leocod.paper.table import DATASETS, Dataset, Row
from leocod.settings import Settings

METRIC: Literal["fap"] = "fap"
"""Ratios are of this metric."""


class Response(Settings):
    """A row of a table in relation to the row that it is compared with: 1 is no difference."""

    key: str
    """Of the row in its table."""
    name: str
    labels: str
    """Annotation cost, as the paper writes it."""
    ratio: float | None = None
    """The mean of the ratios run by run, over the runs that both rows have. Null: there is none."""
    lowest: float | None = None
    highest: float | None = None
    runs: int = 0
    """Ratios that the mean is of."""
    paper: dict[Dataset, float] = Field(default_factory=dict)
    """The ratio of the paper's own figures."""


class Responses(Settings):
    """The responses of one stream."""

    baseline: str
    """The row that all others are compared with."""
    fap: float | None = None
    """Its FAP in points, the mean over its runs."""
    paper_fap: dict[Dataset, float] = Field(default_factory=dict)
    """Its FAP in the paper."""
    rows: tuple[Response, ...]


def measure_responses(outcome: Outcome) -> Responses:
    """The ratios of all rows that are compared with the first one, from the runs that have finished."""
    table = outcome.table
    base, *others = table.rows
    if strangers := [row.key for row in others if row.over != base.key]:
        raise InvalidConfig(
            f"{table.argument}: row {strangers[0]!r} should be compared with the first (over: {base.key})."
        )
    papers = {dataset: Outcome.from_paper(table, dataset) for dataset in DATASETS}
    return Responses(
        baseline=base.title,
        fap=outcome.rows[base.key].mean(METRIC),
        paper_fap=_keep_known({dataset: paper.rows[base.key].mean(METRIC) for dataset, paper in papers.items()}),
        rows=tuple(_measure_row(outcome, papers, row, base.key) for row in others),
    )


def _measure_row(outcome: Outcome, papers: Mapping[Dataset, Outcome], row: Row, base: str) -> Response:
    ratios = _list_ratios(outcome, row.key, base)
    return Response(
        key=row.key,
        name=row.title,
        labels=row.cost,
        ratio=mean(ratios),
        lowest=min(ratios, default=None),
        highest=max(ratios, default=None),
        runs=len(ratios),
        paper=_keep_known({name: mean(_list_ratios(paper, row.key, base)) for name, paper in papers.items()}),
    )


def _list_ratios(outcome: Outcome, row: str, base: str) -> list[float]:
    """The ratio in each run that both rows have. A baseline that has learnt nothing has no ratio."""
    high, low = outcome.rows[row].values(METRIC), outcome.rows[base].values(METRIC)
    return [high[place] / low[place] for place in high if low.get(place)]


def _keep_known(values: Mapping[Dataset, float | None]) -> dict[Dataset, float]:
    return {dataset: value for dataset, value in values.items() if value is not None}
