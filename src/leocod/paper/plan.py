"""What is to be run: tables of the paper, on one benchmark, over seeds, into one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig, RunExists
from leocod.files.atomic import write_text
from leocod.files.documents import read_yaml
from leocod.paper.cells import Cell, cells_of, cells_of_all, where_it_is
from leocod.paper.table import Row, Table
from leocod.run.config import describe_changes, load_config, load_mapping
from leocod.run.layers import overlay

STANDARD: Mapping[str, Any] = {
    "benchmark": {"name": "wander"},
    "detector": {"name": "tiny"},
    # The paper evaluates every 100 of some thousand steps; here forgetfulness needs more points.
    "evaluate": {"every": 50},
}
"""The standard world: the whole stream of the built-in benchmark."""


@dataclass(frozen=True)
class Plan:
    """Tables, and all that their cells have in common."""

    tables: Sequence[Table]
    base: Mapping[str, Any]
    """Config of the benchmark; tables lay theirs over it."""
    seeds: Sequence[int]
    """Of every table; none: each table's own."""
    out: Path
    chosen: str = "wander"
    """The benchmark as it was asked for."""
    overrides: Sequence[str] = ()
    """What was set of its config, as key=value."""

    @property
    def benchmark(self) -> str:
        """In words."""
        config = load_mapping(self.base)
        return f"{config.benchmark.name} with the {config.detector.name} detector"

    def command(self, table: Table) -> list[str]:
        """What makes a table; in how many processes does not matter."""
        seeds = ["--seeds", ",".join(map(str, self.seeds or table.seeds))]
        settings = [word for text in self.overrides for word in ("--set", text)]
        return ["leocod", "paper", table.name, "--benchmark", self.chosen, *settings, *seeds]

    @property
    def home(self) -> Path:
        """Where the cells lie."""
        return self.out / "cells"

    @property
    def logs(self) -> Path:
        """Where what they say lies."""
        return self.out / "logs"

    @property
    def cells(self) -> list[Cell]:
        """Every cell once."""
        return cells_of_all(self.tables, self.base, self.seeds, self.home)

    def cells_of(self, table: Table, row: Row) -> list[Cell]:
        """Those of one row."""
        return cells_of(row, self.base, self.seeds or table.seeds, self.home)

    def settle(self) -> None:
        """Make the folder this benchmark's own; raise if it is another's, or a cell of it is not what it should be."""
        file, config = self.out / "benchmark.yaml", load_mapping(self.base)
        # Before anything has been run, the benchmark may still be mended: data that were not found, say.
        begun = file.is_file() and any(self.home.glob("*/config.yaml"))
        if begun:
            own = load_config(file)
            if differs := describe_changes(own, where_it_is(config, own)):
                raise RunExists(
                    f"{self.out} holds tables of another benchmark ({file}): {differs[0]}. Choose another --out."
                )
        for cell in self.cells:
            cell.check()
        if not begun:
            write_text(file, config.to_yaml())


def benchmark_config(chosen: str, overrides: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The config that tables are laid over: the standard world, or a file's."""
    if chosen == "wander":
        values = dict(STANDARD)
    elif (file := Path(chosen)).suffix in (".yaml", ".yml"):
        values = read_yaml(file)
    else:
        raise InvalidConfig(
            f"--benchmark is '{chosen}': it should be wander, the built-in one, or a config file that says where the "
            "data lie, such as configs/oak.yaml."
        )
    for layer in overrides:
        values = overlay(values, layer)
    if "threads" in values:
        raise InvalidConfig("threads is set, but --jobs divides the threads of the machine: leave it out.")
    load_mapping(values)
    return values
