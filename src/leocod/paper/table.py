"""A table of the paper as data: its rows, the paper's own figures, what each row takes to run, and what is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from math import gcd
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from leocod.errors import InvalidConfig, UnknownName
from leocod.files.documents import parse_mapping
from leocod.run.config import load_mapping
from leocod.run.layers import overlay
from leocod.settings import Settings
from leocod.strategies.base import STRATEGIES

Metric = Literal["fap", "cap", "f"]
METRICS: tuple[Metric, ...] = ("fap", "cap", "f")
LOWER_IS_BETTER = {"f"}

Dataset = Literal["oak", "egoobjects"]
DATASETS: dict[Dataset, str] = {"oak": "OAK", "egoobjects": "EgoObjects"}

PlugIn = Literal["none", "ema", "pseudo", "whole"]
OF = 16
"""Annotation cost is said in labelled frames of so many."""

Figures = tuple[float | None, float | None, float | None]
"""FAP, CAP and F; None where there is none."""


class Row(Settings):
    """One line of a table, and the runs that it takes: one a seed, and for each choice of labelled frames."""

    key: str
    """How claims and other rows call it; one of a kind in its table."""
    name: str
    """As shown."""
    strategy: str = "icarl"
    """Of `leocod list`."""
    labels: int = Field(OF, ge=1, le=OF)
    """Labelled frames of 16: the annotation cost."""
    plug_in: PlugIn = "none"
    """Which halves of Efficient-CLS are on."""
    diagnosis: bool = False
    """True boxes take the place of pseudo labels: the room left, no result."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Other keys of the config."""
    selections: int = Field(0, ge=0)
    """So many choices of the labelled frames, all else the same. 0: the one that comes with the seed."""
    over: str | None = None
    """Key of the row that the difference is to."""
    paper: dict[Dataset, Figures] = Field(default_factory=dict)
    """What the paper reports."""
    paper_spread: dict[Dataset, Figures] = Field(default_factory=dict)
    """Its standard deviations, where it has them."""
    as_in: tuple[str, str] | None = None
    """Table and key of the row that it repeats, with the paper's figures."""

    @property
    def cost(self) -> str:
        """Annotation cost as the paper says it."""
        return f"{100 * self.labels / OF:g} %"

    def plain(self, base: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """What it changes of a benchmark's config, but for single settings."""
        both = {"ema": True, "pseudo_labels": True}
        halves = {"none": None, "ema": both | {"pseudo_labels": False}, "pseudo": both | {"ema": False}, "whole": both}
        layer = {
            "strategy": {"name": self.strategy, **_options_for(self.strategy, base)},
            "labels": {"per_step": _per_step(self.labels, load_mapping(base).frames_per_step)},
            "efficient_cls": halves[self.plug_in],
            "diagnosis": "true_boxes" if self.diagnosis else None,
            "seed": seed,
        }
        return overlay(base, layer)

    def settings(self) -> list[dict[str, Any]]:
        """The settings of its runs for one seed: one run, or one for each choice of the labelled frames."""
        choices = [{"labels": {"seed": number, "choice": "drawn"}} for number in range(self.selections)]
        return [overlay(self.set, choice) for choice in choices or [{}]]


class Claim(Settings):
    """Something that the paper says about its table, as comparisons of rows by their keys. One kind of them each."""

    says: str
    """In our words."""
    stands: str
    """Where the paper says so."""
    metrics: tuple[Metric, ...]
    """In which it is tried."""
    better: tuple[tuple[str, str], ...] = ()
    """The first row is better than the second."""
    gains: tuple[tuple[str, str, str, str], ...] = ()
    """The first row is more over the second than the third over the fourth."""
    no_better: tuple[tuple[str, str], ...] = ()
    """The first row is not better than the second: worse, or the same but for chance."""
    alike: tuple[tuple[str, str], ...] = ()
    """The two rows do not differ by more than chance."""
    steady: tuple[tuple[str], ...] = ()
    """The runs of the row do not differ by more than `most`."""
    most: float | None = None
    """Standard deviation, in points."""

    @property
    def rows(self) -> set[str]:
        """Every row that it is about."""
        return {key for group in self._kinds for keys in group for key in keys}

    @property
    def _kinds(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        return self.better, self.gains, self.no_better, self.alike, self.steady

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        if sum(map(bool, self._kinds)) != 1:
            raise ValueError("Input should have one of better, gains, no_better, alike and steady")
        if bool(self.steady) != (self.most is not None):
            raise ValueError("Input should have `most` where it has `steady`, and only there")
        return self


class Table(Settings):
    """What a file of tables/ says."""

    name: str
    title: str
    in_paper: str
    """What it is called there."""
    label: str
    """In the paper's source."""
    note: str | None = None
    seeds: tuple[int, ...] = Field(min_length=1)
    """Run when nobody says otherwise."""
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        keys = [row.key for row in self.rows]
        if len(keys) != len(set(keys)):
            raise ValueError("Input should have a different key for each row")
        asked = {row.over for row in self.rows if row.over} | {key for claim in self.claims for key in claim.rows}
        if strangers := asked - set(keys):
            raise ValueError(f"Input should know its rows; there is no {sorted(strangers)[0]!r}")
        return self

    def row(self, key: str) -> Row:
        """By its key."""
        return next(row for row in self.rows if row.key == key)


def names() -> list[str]:
    """Every table in the order of the paper, the figures last."""
    tables = [load(file.name.removesuffix(".yaml")) for file in _folder().iterdir() if file.name.endswith(".yaml")]
    return [
        one.name for one in sorted(tables, key=lambda one: (one.name == "figures", "S" in one.in_paper, one.in_paper))
    ]


def load(name: str) -> Table:
    """The table of this name."""
    file = _folder() / f"{name}.yaml"
    if not file.is_file():
        raise UnknownName("table", name, names())
    content = parse_mapping(file.read_text(encoding="utf-8"), file.name)
    # What all rows of a table share is said once.
    shared = content.pop("cell", {})
    content["rows"] = [{**shared, **_repeated(row), **row} for row in content["rows"]]
    return Table.model_validate({"name": name, **content})


def _repeated(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row has from another table."""
    if "as_in" not in row:
        return {}
    table, key = row["as_in"]
    return load(table).row(key).model_dump(exclude={"key", "over", "as_in"})


def _options_for(strategy: str, base: Mapping[str, Any]) -> dict[str, Any]:
    """What a benchmark's config says about its own strategy holds for another one, as far as it has such options."""
    own = base.get("strategy", {})
    said = {} if isinstance(own, str) else dict(own)
    known = STRATEGIES.find(strategy).Options.model_fields
    return {key: value for key, value in said.items() if key in known and key != "name"}


def _per_step(labels: int, frames_per_step: int) -> int:
    per_step, rest = divmod(labels * frames_per_step, OF)
    if rest:
        raise InvalidConfig(
            f"{labels} of {OF} frames is no whole number of the {frames_per_step} in a step: "
            f"benchmark.frames_per_step should be a multiple of {OF // gcd(labels, OF)}."
        )
    return per_step


def _folder() -> Any:
    return files("leocod.paper") / "tables"
