"""A cell of a table is one run with a directory of its own; tables that ask for the same run share it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from leocod.errors import InvalidConfig, RunExists, RunInUse
from leocod.evaluation.results import Results
from leocod.files.run_directory import RunDirectory
from leocod.paper.table import Row, Table
from leocod.run.config import ExperimentConfig, find_changes, load_config, load_mapping
from leocod.run.experiment import name_run
from leocod.run.layers import overlay
from leocod.run.session import read_finished, resume_experiment, run_experiment

State = Literal["new", "begun", "finished"]

WHERE = ("threads", "device", "frames_at_once")
"""Keys that say where and how a cell runs; what it is does not depend on them, and a begun one keeps its own."""


LEARNT = re.compile(rb'"event": "StepLearned", "step": (\d+)')
LOG_END = 100_000
"""Bytes at the end of a log in which there is a step for sure."""


@dataclass(frozen=True)
class Cell:
    """One run: what it is asked to do, and where it lies."""

    config: ExperimentConfig
    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def directory(self) -> RunDirectory:
        return RunDirectory(self.path)

    @property
    def results(self) -> Results | None:
        """What it found, once it has ended."""
        return read_finished(self.directory)

    @property
    def environment(self) -> dict[str, Any]:
        """What it was made with, as far as that can be read."""
        try:
            content = json.loads(self.directory.environment.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def state(self) -> State:
        if not self.directory.config.is_file():
            return "new"
        return "begun" if self.results is None else "finished"

    @property
    def steps_done(self) -> tuple[int, int]:
        """How many steps of how many it has learnt, by the end of its log; (0, 0) before it has begun to."""
        try:
            with self.directory.events.open("rb") as log:
                total = json.loads(log.readline())["steps"]
                log.seek(max(log.seek(0, os.SEEK_END) - LOG_END, 0))
                learnt = LEARNT.findall(log.read())
        # Being written, or not there yet.
        except (OSError, ValueError, KeyError):
            return 0, 0
        return (int(learnt[-1]) + 1 if learnt else 0), total

    def check(self) -> None:
        """Raise unless what lies there is this cell, and not one of another benchmark or other settings."""
        if self.state != "new":
            self._own()

    def run(self, threads: int) -> None:
        """To its end, from wherever it is. Waits for a process that is at it already."""
        while True:
            self.directory.wait_until_free()
            try:
                if self.state == "new":
                    run_experiment(self.config.model_copy(update={"threads": threads}), self.path)
                else:
                    resume_experiment(self._own(), self.path)
                return
            except RunExists as error:
                # Another one was quicker; or what lies there is no run at all.
                if self.state == "new" and not isinstance(error, RunInUse):
                    raise

    def _own(self) -> ExperimentConfig:
        """The config that lies there; it was written before anything else."""
        own = load_config(self.directory.config)
        asked = where_it_is(self.config, own)
        if differs := find_changes(own, asked):
            key, (there, now) = next(iter(differs.items()))
            raise InvalidConfig(
                f"{self.directory.config} has {key} {there}, and this table asks for {now}. Choose another --out, or "
                "remove that run."
            )
        return asked


def where_it_is(config: ExperimentConfig, own: ExperimentConfig) -> ExperimentConfig:
    """The config, to be run where and as another one is."""
    return config.model_copy(update={key: getattr(own, key) for key in WHERE})


def cells_of(row: Row, base: Mapping[str, Any], seeds: Sequence[int], home: Path) -> list[Cell]:
    """The runs that a row takes, seed by seed; those of the paper's own settings have the same name in every table."""
    cells = []
    for seed in seeds:
        plain = row.plain(base, seed)
        reference = load_mapping(plain)
        for settings in row.settings():
            config = load_mapping(overlay(plain, settings))
            differs = find_changes(reference, config)
            # Whoever says who chooses also says by which seed.
            said = [f"-{key}={value}" for key, (_, value) in differs.items() if key != "labels.choice"]
            cells.append(Cell(config, home / (name_run(config) + "".join(said).replace('"', ""))))
    return cells


def cells_of_all(tables: Iterable[Table], base: Mapping[str, Any], seeds: Sequence[int], home: Path) -> list[Cell]:
    """Every cell of some tables once, seed by seed, so that what is broken off has whole seeds in it.

    Without seeds each table has its own.
    """
    wanted: dict[str, tuple[int, Cell]] = {}
    for table in tables:
        for place, seed in enumerate(seeds or table.seeds):
            for row in table.rows:
                for cell in cells_of(row, base, [seed], home):
                    wanted.setdefault(cell.name, (place, cell))
    return [cell for _, cell in sorted(wanted.values(), key=lambda one: one[0])]
