"""A cell of a table is one run with a directory of its own. Tables that need the same run share it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from leocod.errors import InvalidConfig, RunExists, RunInUse, UnknownName
from leocod.evaluation.results import Results
from leocod.files.run_directory import RunDirectory
from leocod.paper.record import RunRecord, record_run
from leocod.paper.table import Row
from leocod.run.config import ExperimentConfig, find_changes, load_mapping, load_run_config
from leocod.run.experiment import name_run
from leocod.run.layers import NOT_THERE, overlay
from leocod.run.session import read_finished, resume_experiment, run_experiment
from leocod.settings import list_leaves

State = Literal["new", "begun", "finished"]

WHERE = ("threads", "device", "frames_at_once")
"""Keys that say where and how a cell runs, not what it is. A begun cell keeps its own values."""

LEARNT = re.compile(rb'"event": "StepLearned", "step": (\d+)')
LONGEST_NAME = 200
"""Bytes. Most file systems take 255, and a log has an ending, too."""
LOG_END = 100_000
"""Bytes at the end of a log that certainly contain a step."""


@dataclass(frozen=True)
class Cell:
    """One run: its config and its directory."""

    config: ExperimentConfig
    path: Path
    earlier: RunRecord | None = field(default=None, compare=False)
    """Its record, if the table counts it as finished. Then the directory does not matter."""

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def directory(self) -> RunDirectory:
        return RunDirectory(self.path)

    @property
    def results(self) -> Results | None:
        """The content of results.json, once the run in the directory has finished."""
        return read_finished(self.directory)

    @property
    def record(self) -> RunRecord | None:
        """Its figures and how it was made, once it has finished."""
        if self.earlier is not None:
            return self.earlier
        results = self.results
        if results is None:
            return None
        written = self.directory.results.stat()
        return _read_record(self.path, self.config.seed, written.st_mtime_ns, written.st_size)

    @property
    def state(self) -> State:
        if self.earlier is not None or self.results is not None:
            return "finished"
        return "begun" if self.directory.config.is_file() else "new"

    @property
    def steps_done(self) -> tuple[int, int]:
        """Steps learnt and steps in all, by the end of its log; (0, 0) before the first step."""
        try:
            with self.directory.events.open("rb") as log:
                total = json.loads(log.readline())["steps"]
                log.seek(max(log.seek(0, os.SEEK_END) - LOG_END, 0))
                learnt = LEARNT.findall(log.read())
        # It is being written, or does not exist yet.
        except (OSError, ValueError, KeyError):
            return 0, 0
        return (int(learnt[-1]) + 1 if learnt else 0), total

    def check(self) -> None:
        """Raise if its directory holds a run of another benchmark or with other settings."""
        if self.directory.config.is_file():
            self._read_config()

    def run(self, threads: int) -> None:
        """Run or resume it to its end. Wait for another process that runs it."""
        while True:
            self.directory.wait_until_free()
            try:
                if not self.directory.config.is_file():
                    run_experiment(self.config.model_copy(update={"threads": threads}), self.path)
                else:
                    resume_experiment(self._read_config(), self.path)
                return
            except RunExists as error:
                # Another process was quicker; or the directory holds something that is not a run.
                if not (self.directory.config.is_file() or isinstance(error, RunInUse)):
                    raise

    def _read_config(self) -> ExperimentConfig:
        """The config to resume it with. The directory's config.yaml is the first file that a run writes."""
        there = load_run_config(self.directory.config)
        wanted = keep_place(self.config, there)
        if changes := find_changes(there, wanted):
            key, (old, new) = next(iter(changes.items()))
            raise InvalidConfig(
                f"{self.directory.config} has {key} {old}, and this table needs {new}. Choose another folder (--out, "
                "of `leocod show` --cells), or remove that run."
            )
        return wanted


@lru_cache(maxsize=10_000)
def _read_record(path: Path, seed: int, time: int, size: int) -> RunRecord | None:
    """Kept in memory: the events of hundreds of runs take long to read, and a live table asks after each cell.

    `time` and `size` are those of results.json, so that a run that was made anew is read anew.
    """
    directory = RunDirectory(path)
    results = read_finished(directory)
    return None if results is None else record_run(directory, seed, results)


def keep_place(config: ExperimentConfig, there: ExperimentConfig) -> ExperimentConfig:
    """The config, to be run where and how the other one is run."""
    return config.model_copy(update={key: getattr(there, key) for key in WHERE})


def build_cells(
    row: Row, base: Mapping[str, Any], seeds: Sequence[int], home: Path, records: Mapping[str, RunRecord] | None = None
) -> list[Cell]:
    """The runs of a row, seed by seed. Runs with the paper's own settings have the same name in every table."""
    try:
        return _build_cells(row, base, seeds, home, records or {})
    except (InvalidConfig, UnknownName) as error:
        raise InvalidConfig(f"row {row.key!r}: {error}") from error


def _build_cells(
    row: Row, base: Mapping[str, Any], seeds: Sequence[int], home: Path, records: Mapping[str, RunRecord]
) -> list[Cell]:
    cells = []
    for seed in seeds:
        plain = row.configure(base, seed)
        reference = load_mapping(plain)
        for settings in row.list_settings():
            config = load_mapping(overlay(plain, settings))
            name = fit_name(name_run(reference) + _name_changes(find_changes(reference, config), row, settings))
            cells.append(Cell(config, home / name, records.get(name)))
    return cells


def fit_name(name: str) -> str:
    """A name that can be that of a folder: without slashes, and no longer than file systems allow.

    >>> fit_name("a/b"), len(fit_name("a" * 300))
    ('a_b', 200)
    """
    flat = name.replace("/", "_").encode()
    if len(flat) <= LONGEST_NAME:
        return flat.decode()
    digest = hashlib.sha256(flat).hexdigest()[:12]
    return f"{flat[: LONGEST_NAME - 13].decode(errors='ignore')}-{digest}"


def _name_changes(changes: Mapping[str, tuple[str, str]], row: Row, settings: Mapping[str, Any]) -> str:
    """What a run has changed, as its name has it. Options that come with another part count if they are set."""
    own = dict(list_leaves(settings))
    told = {key: new for key, (old, new) in changes.items() if key in own or NOT_THERE not in (old, new)}
    # Of several choices of labelled frames the labeller is the same, and `labels.seed` tells them apart.
    if row.selections:
        told.pop("labels.name", None)
    return "".join(f"-{key}={value}" for key, value in told.items()).replace('"', "")
