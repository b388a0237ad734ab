"""What is to be run: tables on one benchmark, over seeds, into one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig, RunExists, UnknownName
from leocod.files.atomic import write_text
from leocod.paper.cells import Cell, build_cells, keep_place
from leocod.paper.record import RunRecord, read_runs
from leocod.paper.table import Row, Table
from leocod.run.config import describe_changes, load_mapping, load_run_config
from leocod.run.config_file import read_config_file
from leocod.run.layers import overlay

STANDARD: Mapping[str, Any] = {
    "benchmark": {"name": "wander"},
    "detector": {"name": "tiny"},
    # The paper evaluates every 100 of some thousand steps; here forgetting needs more points.
    "evaluate": {"every": 50},
}
"""The standard world: the whole stream of the built-in benchmark."""


@dataclass(frozen=True)
class Plan:
    """Tables, and what all their cells have in common."""

    tables: Sequence[Table]
    base: Mapping[str, Any]
    """Config of the benchmark. Each row changes some of its keys."""
    seeds: Sequence[int]
    """Seeds of every row. Empty: the row's, or the table's."""
    out: Path
    chosen: str = "wander"
    """The benchmark as it was named."""
    overrides: Sequence[str] = ()
    """Keys of the benchmark's config that were set, as key=value."""
    finished: Sequence[Path] = ()
    """Files of runs (NAME-runs.csv) on this benchmark that every table counts as finished."""
    rows: Sequence[str] = ()
    """Patterns, as of file names, for the keys of the rows that are run. Empty: all. A table is written whole."""

    def __post_init__(self) -> None:
        keys = list(dict.fromkeys(row.key for table in self.tables for row in table.rows))
        for pattern in self.rows:
            if not any(_fits(key, pattern) for key in keys):
                raise UnknownName("row", pattern, keys)

    @property
    def benchmark(self) -> str:
        """The benchmark in words."""
        config = load_mapping(self.base)
        return f"{config.benchmark.name} with the {config.detector.name} detector"

    def command(self, table: Table) -> list[str]:
        """The command that makes a table. The number of processes does not matter."""
        # Rows with seeds of their own would lose them.
        implied = not self.seeds and any(row.seeds for row in table.rows)
        seeds = [] if implied else ["--seeds", ",".join(map(str, self.seeds or table.seeds))]
        settings = [word for text in self.overrides for word in ("--set", text)]
        return ["leocod", "paper", table.argument or table.name, "--benchmark", self.chosen, *settings, *seeds]

    @property
    def home(self) -> Path:
        """The folder of the cells."""
        return self.out / "cells"

    @property
    def logs(self) -> Path:
        """The folder of what the cells print."""
        return self.out / "logs"

    @cached_property
    def records(self) -> dict[str, dict[str, RunRecord]]:
        """Table -> runs that it counts as finished."""
        given = {name: record for file in self.finished for name, record in read_runs(file).items()}
        return {table.name: given | self._read_own_records(table) for table in self.tables}

    def _read_own_records(self, table: Table) -> dict[str, RunRecord]:
        """The runs that the table itself names. They hold for its own benchmark only, without other settings."""
        if table.finished is None or table.benchmark != self.chosen or self.overrides:
            return {}
        return read_runs(Path(table.finished))

    @cached_property
    def cells(self) -> list[Cell]:
        """Every cell of the chosen rows once, seed by seed: a plan that was interrupted has whole seeds."""
        return self._list_cells(self._is_chosen) if self.rows else self.all_cells

    @cached_property
    def all_cells(self) -> list[Cell]:
        """Those of all rows. A table shows them, whichever rows are run."""
        return self._list_cells(lambda row: True)

    def _list_cells(self, counts: Callable[[Row], bool]) -> list[Cell]:
        places: dict[str, tuple[int, Cell]] = {}
        for table in self.tables:
            for row in filter(counts, table.rows):
                for cell in self.cells_of(table, row):
                    place = self._seeds_of(table, row).index(cell.config.seed)
                    # A cell that one table has on record is still to be run for another that has not.
                    if cell.name not in places or (places[cell.name][1].earlier and not cell.earlier):
                        places[cell.name] = (place, cell)
        return [cell for _, cell in sorted(places.values(), key=lambda item: item[0])]

    def cells_of(self, table: Table, row: Row) -> list[Cell]:
        """The cells of one row."""
        return build_cells(row, self.base, self._seeds_of(table, row), self.home, self.records.get(table.name))

    def _is_chosen(self, row: Row) -> bool:
        return any(_fits(row.key, pattern) for pattern in self.rows)

    def _seeds_of(self, table: Table, row: Row) -> Sequence[int]:
        return self.seeds or row.seeds or table.seeds

    def prepare(self) -> None:
        """Reserve the folder for this benchmark. Raise if it holds another one, or a cell with other settings."""
        file, config = self.out / "benchmark.yaml", load_mapping(self.base)
        # Before the first run the benchmark may still change, for example where data were not found.
        begun = file.is_file() and any(self.home.glob("*/config.yaml"))
        if begun:
            there = load_run_config(file)
            if changes := describe_changes(there, keep_place(config, there)):
                raise RunExists(
                    f"{self.out} holds tables of another benchmark ({file}): {changes[0]}. Choose another "
                    "folder (--out, of `leocod show` --cells)."
                )
        for cell in self.all_cells:
            cell.check()
        if not begun:
            write_text(file, config.to_yaml())


def _fits(key: str, pattern: str) -> bool:
    """Whether a pattern means a row. A key may have signs in it that patterns use: it means itself."""
    return key == pattern or fnmatchcase(key, pattern)


def choose_benchmark(tables: Sequence[Table]) -> str:
    """The benchmark that the tables themselves name."""
    first, *others = dict.fromkeys(table.benchmark for table in tables)
    if others:
        raise InvalidConfig(f"The tables are for different benchmarks, {first} and {others[0]}. Run them separately.")
    return first


def load_benchmark(chosen: str, overrides: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The config that rows change: the standard world, or that of a file."""
    if chosen == "wander":
        values = dict(STANDARD)
    elif (file := Path(chosen)).suffix in (".yaml", ".yml"):
        values = read_config_file(file)
    else:
        raise InvalidConfig(
            f"--benchmark is '{chosen}': it should be wander, the built-in benchmark, or a config file that says where "
            "the data are, such as oak.yaml."
        )
    for layer in overrides:
        values = overlay(values, layer)
    if "threads" in values:
        raise InvalidConfig("threads is set, but --jobs divides the threads of the machine. Remove it.")
    load_mapping(values)
    return values
