"""Checkpoints that somebody has forged: changed, and sealed again, so that the checksum is right."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from leocod.events import RunStarted, StepFinished
from leocod.files.atomic import write_text
from leocod.files.checkpoint import CHECKSUM, seal
from leocod.files.run_directory import RunDirectory
from leocod.run.config import load_config
from leocod.run.experiment import build, load_learner
from leocod.run.layers import parse_override
from leocod.run.record.checkpoints import Checkpoints

SMALL = (
    "benchmark={name: wander, steps: 1, width: 32, height: 32, classes: 2, places: 1, instances: 2}",
    "detector={weights: null, short_side: 32, regions: 8, proposals: 8}",
    "strategy.replay_per_step=2",
)
KINDS: dict[str, tuple[str, ...]] = {
    "wrapped": (),
    "bare": ("efficient_cls=null", "strategy=derpp", "strategy.memory_encoding=jpeg"),
    "open": ("classes=open", "efficient_cls=null", "strategy=ewc"),
}


def write_checkpoints(folder: Path) -> None:
    """A run of one step of each kind of learner."""
    for name, texts in KINDS.items():
        small = SMALL if "bare" in name or "wrapped" in name else SMALL[:2]
        experiment = build(load_config(None, [parse_override(text) for text in (*small, *texts)]))
        for step in experiment.stream.steps():
            experiment.learner.learn(step)
        config = experiment.config
        saved = RunDirectory(folder / name / "run")
        values: dict[str, Any] = config.model_dump(mode="json")
        sink = Checkpoints(saved.checkpoints, experiment.learner, {}, every=1, keep=1, config=values)
        sink(RunStarted("run", experiment.benchmark.classes, 1, 0))
        sink(StepFinished(0))
        write_text(saved.config, config.to_yaml())


def checkpoint_acts(folder: Path) -> Iterator[Any]:
    """What `predict`, `export` and `--resume` do first."""
    for path in sorted(folder.rglob("*.pt")):
        if path.is_file() and not path.is_symlink():
            _forge(path)
    yield partial(_load, folder / "run")


def _load(run: Path) -> None:
    load_learner(RunDirectory.open(run))


def _forge(path: Path) -> None:
    data = path.read_bytes()
    if data[-CHECKSUM - 2 : -CHECKSUM] == CHECKSUM.to_bytes(2, "little"):
        data = data[:-CHECKSUM]
    if len(data) > 2:
        path.write_bytes(data)
        seal(path)
