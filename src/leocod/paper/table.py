"""A table as data: its rows and what each takes to run, what is compared and claimed, and the paper's own figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import gcd
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from leocod.errors import InvalidConfig, UnknownName
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.files.documents import parse_mapping, read_yaml
from leocod.paper.claim import Claim
from leocod.paper.columns import Metric
from leocod.plugins.diagnosis import Diagnosis
from leocod.run.choices import validate
from leocod.run.config import load_mapping
from leocod.run.layers import overlay
from leocod.run.plugin import lay
from leocod.settings import Settings, list_leaves
from leocod.strategies.base import STRATEGIES
from leocod.text import one_line

Dataset = Literal["oak", "egoobjects"]
DATASETS: dict[Dataset, str] = {"oak": "OAK", "egoobjects": "EgoObjects"}
PlugIn = Literal["none", "ema", "pseudo", "whole", "plus"]
OF = 16
"""Annotation cost is the number of labelled frames of this many."""

FOLDER = files("leocod.paper") / "tables"
"""Of the shipped tables."""

Figures = tuple[float | None, float | None, float | None]
"""FAP, CAP and F; None where there is none."""


def check_seeds(seeds: tuple[int, ...]) -> tuple[int, ...]:
    """The seeds, if each is there once."""
    if len(seeds) != len(set(seeds)):
        raise ValueError("a seed is there twice")
    return seeds


Seed = Annotated[int, Field(ge=0)]
Seeds = Annotated[tuple[Seed, ...], Field(max_length=1000), AfterValidator(check_seeds)]


OWN_KEYS = {
    "seed": "seeds: [{value}]",
    "strategy.name": "strategy",
    "labels.per_step": "labels",
    "labels.total": "labels",
    "labels.per_hour": "labels",
    "plugin": "plug_in",
    "diagnosis": "diagnosis",
}
"""Keys of a config that a row says itself, and by which key: the table shows what the row says."""


def _refuse_own_keys(settings: dict[str, Any]) -> dict[str, Any]:
    named = {key: {"name": value} for key, value in settings.items() if key == "strategy" and isinstance(value, str)}
    for key, value in list_leaves(settings | named):
        if key in OWN_KEYS:
            raise ValueError(f"it has {key}. Give the row {OWN_KEYS[key].format(value=value)} instead.")
    return settings


class Row(Settings):
    """One line of a table, and its runs: one for each seed and each choice of labelled frames."""

    key: str
    """How claims, comparisons and other rows name it. Unique in its table."""
    name: str = ""
    """The name that is shown. Empty: the key."""
    strategy: str = "icarl"
    """A strategy of `leocod list`."""
    labels: int = Field(OF, ge=0, le=OF)
    """Labelled frames of 16: the annotation cost."""
    plug_in: PlugIn = "none"
    """Which halves of Efficient-CLS are on; `plus`: Efficient-CLS+."""
    diagnosis: Diagnosis | None = None
    """Makes the pseudo labels better by the hidden truth, to show how much room is left. Not a result."""
    set: Annotated[dict[str, Any], AfterValidator(_refuse_own_keys)] = Field(default_factory=dict)
    """Other keys of the config."""
    seeds: Seeds = ()
    """The seeds of this row. Empty: those of the table."""
    selections: int = Field(0, ge=0, le=1000)
    """Number of choices of the labelled frames, with everything else the same. 0: the choice that the seed makes."""
    over: str | None = None
    """Key of the row that this one is compared with."""
    paper: dict[Dataset, Figures] = Field(default_factory=dict)
    """The figures that the paper reports."""
    paper_spread: dict[Dataset, Figures] = Field(default_factory=dict)
    """The standard deviations that the paper reports."""
    as_in: tuple[str, str] | None = None
    """Table and key of the shipped row that this one repeats, with the paper's figures."""

    @model_validator(mode="after")
    def _check_settings(self) -> Self:
        if self.plug_in == "none" and self.set.get("efficient_cls") is not None:
            raise ValueError(f"row {self.key!r}: set has efficient_cls, but plug_in is none. Choose another plug_in.")
        labels = self.set.get("labels")
        named = isinstance(labels, str) or (isinstance(labels, Mapping) and {"name", "seed"} & labels.keys())
        if self.selections and named:
            raise ValueError(f"row {self.key!r}: selections draw the frames by chance. Remove labels from set.")
        return self

    @property
    def title(self) -> str:
        return self.name or self.key

    @property
    def cost(self) -> str:
        """Annotation cost as the paper writes it."""
        return f"{100 * self.labels / OF:g} %" if self.labels else "none"

    def configure(self, base: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The benchmark's config with the strategy, plug-in, annotation cost and seed of this row, without `set`."""
        both = {"ema": True, "pseudo_labels": True}
        halves = {"none": None, "ema": both | {"pseudo_labels": False}, "pseudo": both | {"ema": False}, "whole": both}
        plug_in = {
            "plugin": {"none": "none", "plus": "efficient_cls_plus"}.get(self.plug_in, "efficient_cls"),
            "efficient_cls": (halves | {"plus": both})[self.plug_in],
        }
        # First, so that the base's own strategy keeps no option that the plug-in decides.
        chosen = lay(base, plug_in)
        layer = {
            "strategy": {**_shared_options(self.strategy, chosen), "name": self.strategy},
            "labels": {"per_step": _labels_per_step(self.labels, load_mapping(base).frames_per_step)},
            "diagnosis": self.diagnosis,
            "seed": seed,
        }
        return lay(chosen, layer)

    def list_settings(self) -> list[dict[str, Any]]:
        """The single settings of its runs for one seed: one run, or one for each choice of the labelled frames."""
        choices = [{"labels": {"seed": number, "name": "random"}} for number in range(self.selections)]
        return [overlay(self.set, choice) for choice in choices or [{}]]


class Table(Settings):
    """The content of a table file."""

    name: str
    """The file's name without its ending. Output files are named after it."""
    argument: str = ""
    """What `leocod paper` takes for it: a shipped name, or a path."""
    title: str
    in_paper: str | None = None
    """What the paper calls it."""
    label: str | None = None
    """Its label in the paper's source."""
    note: str | None = None
    benchmark: str = "wander"
    """The benchmark where the command names none: wander, or a config file beside the table file."""
    finished: str | None = None
    """A file of runs (NAME-runs.csv) beside the table file. They count as finished, wherever their directories are."""
    seeds: Seeds = Field((0,), min_length=1)
    """Each row is run with each of them."""
    chance: float = Field(1.0, ge=0)
    """Points by which FAP, CAP and F of a single run differ by chance. It counts where rows have one run in common."""
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)] = PAPER_METRICS
    """The columns."""
    rows: tuple[Row, ...]
    comparisons: tuple[tuple[str, str], ...] = ()
    """Pairs of rows whose differences are listed."""
    budgets: tuple[tuple[str, str], ...] = ()
    """Pairs of rows of which the first should spend no more than the second: labels, updates, frames, bytes."""
    claims: tuple[Claim, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _apply_defaults(cls, content: Any) -> Any:
        """Lay each row over `defaults`, which all rows share, and over the shipped row that it repeats."""
        if not (isinstance(content, dict) and isinstance(content.get("rows"), list)):
            return content
        rest = dict(content)
        defaults = rest.pop("defaults", {})
        if not isinstance(defaults, dict):
            raise ValueError("defaults: it should be a mapping, with keys that rows have")
        rows = [{**defaults, **_repeat(row), **row} if isinstance(row, dict) else row for row in content["rows"]]
        return rest | {"rows": rows}

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        keys = [row.key for row in self.rows]
        if not keys:
            raise ValueError("a table needs at least one row")
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise ValueError(f"two rows have the key {twice[0]!r}")
        used = {row.over for row in self.rows if row.over} | {key for pair in self.comparisons for key in pair}
        used |= {key for pair in self.budgets for key in pair}
        used |= {key for claim in self.claims for key in claim.rows}
        if unknown := used - set(keys):
            raise ValueError(f"there is no row {min(unknown)!r}")
        return self

    def row(self, key: str) -> Row:
        """The row with this key."""
        return next(row for row in self.rows if row.key == key)


def list_tables() -> list[str]:
    """The shipped tables: the paper's in its order, then ours, the figures last."""

    def place(table: Table) -> tuple[bool, bool, bool, str]:
        where = table.in_paper or ""
        return table.name == "figures", not where, "S" in where, where

    return [table.name for table in sorted(map(_load_shipped, _shipped()), key=place)]


def list_paper_tables() -> list[str]:
    """The shipped tables that are in the paper."""
    return [name for name in list_tables() if _load_shipped(name).in_paper]


def load_table(argument: str) -> Table:
    """The shipped table of this name, or the one in this file."""
    path = Path(argument)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise InvalidConfig(f"No table file '{one_line(path)}'.")
        return _build(read_yaml(path), path.stem, argument, path.parent)
    if argument not in _shipped():
        raise UnknownName("table", argument, list_tables())
    return _load_shipped(argument)


@cache
def _load_shipped(name: str) -> Table:
    file = FOLDER / f"{name}.yaml"
    return _build(parse_mapping(file.read_text(encoding="utf-8"), file.name), name, name)


def _build(content: Mapping[str, Any], name: str, argument: str, folder: Path = Path()) -> Table:
    try:
        if taken := {"name", "argument"} & content.keys():
            raise InvalidConfig(f"{min(taken)}: a table has the name of its file. Remove this key.")
        table = validate(Table, {**content, "name": name, "argument": argument})
    except InvalidConfig as error:
        raise InvalidConfig(f"{one_line(argument)}: {error}") from error
    beside: dict[str, Any] = {"finished": str(folder / table.finished)} if table.finished else {}
    if table.benchmark != "wander":
        beside["benchmark"] = str(folder / table.benchmark)
    return table.model_copy(update=beside)


def _repeat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The content of the shipped row that a row repeats."""
    match row.get("as_in"):
        case [str(table), str(key)] if table in _shipped():
            source = _load_shipped(table)
            if any(other.key == key for other in source.rows):
                return source.row(key).model_dump(exclude={"key", "over", "as_in"})
            raise ValueError(f"as_in: the table {table} has no row {key!r}")
        case None:
            return {}
    raise ValueError(f"as_in: it should be a shipped table and the key of one of its rows, not {row['as_in']!r}")


def _shared_options(strategy: str, base: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the benchmark's own strategy that this strategy has too."""
    options = base.get("strategy", {})
    known = STRATEGIES.find(strategy).Options.model_fields
    return {} if isinstance(options, str) else {key: value for key, value in options.items() if key in known}


def _labels_per_step(labels: int, frames_per_step: int) -> int:
    per_step, rest = divmod(labels * frames_per_step, OF)
    if rest:
        raise InvalidConfig(
            f"{labels} of {OF} frames is not a whole number of the {frames_per_step} frames in a step: "
            f"benchmark.frames_per_step should be a multiple of {OF // gcd(labels, OF)}."
        )
    return per_step


def _shipped() -> set[str]:
    return {file.name.removesuffix(".yaml") for file in FOLDER.iterdir() if file.name.endswith(".yaml")}
