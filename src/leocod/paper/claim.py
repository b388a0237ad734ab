"""A claim about a table: which rows it compares, and in which metrics."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from leocod.paper.columns import Metric
from leocod.settings import Settings


class Claim(Settings):
    """A statement about a table, as comparisons of rows by their keys. All comparisons are of one kind."""

    text: str
    """The statement in our words."""
    source: str | None = None
    """Where the paper says so."""
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]
    """The metrics in which it is tested."""
    better: tuple[tuple[str, str], ...] = ()
    """The first row is better than the second."""
    on_average: tuple[tuple[str, str], ...] = ()
    """The first rows of the pairs are better than the second ones, in the mean over the pairs."""
    gains: tuple[tuple[str, str, str, str], ...] = ()
    """The first row gains more over the second than the third over the fourth."""
    no_better: tuple[tuple[str, str], ...] = ()
    """The first row is not better than the second by `margin` or more."""
    alike: tuple[tuple[str, str], ...] = ()
    """Neither of the two rows is better than the other by `margin` or more."""
    margin: float = Field(1.0, gt=0)
    """Points by which `no_better` and `alike` may be off."""
    steady: tuple[tuple[str], ...] = ()
    """The standard deviation of the row's runs is not above `at_most`."""
    at_most: float | None = None
    """Standard deviation, in points."""

    @property
    def rows(self) -> set[str]:
        """Keys of all rows in its comparisons."""
        return {key for group in self._kinds for keys in group for key in keys}

    @property
    def _kinds(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        return self.better, self.on_average, self.gains, self.no_better, self.alike, self.steady

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if sum(map(bool, self._kinds)) != 1:
            raise ValueError("a claim has exactly one of better, on_average, gains, no_better, alike and steady")
        if bool(self.steady) != (self.at_most is not None):
            raise ValueError("a claim has `at_most` if it has `steady`, and only then")
        if "margin" in self.model_fields_set and not (self.no_better or self.alike):
            raise ValueError("`margin` belongs to no_better and alike: this claim has neither")
        return self
