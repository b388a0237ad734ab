"""What every sink that is chosen by name must hold to. A new file in sinks/ is found by itself."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import torch

from leocod.events import (
    Evaluated,
    RunFinished,
    RunStarted,
    StepArrived,
    StepFinished,
    StepLearned,
    StepTested,
    StreamEnded,
    Warned,
)
from leocod.files.run_directory import RunDirectory
from leocod.sinks.base import SINKS, RunInfo
from leocod.types import Detections, Labels

NAMES = [*SINKS.names(), "own_sink:ApCsv"]
"""All there are, and the one in examples/."""
SLOW = {"mlflow"}
"""It makes a data base first."""

OFFLINE = {"wandb": {"mode": "offline"}}
"""What keeps a sink from the network."""

FOUND = Detections(np.array([[1, 2, 4, 8]], np.float32), np.array([0]), np.array([0.9], np.float32))
CONFIG = {"seed": 0, "labels": {"name": "random", "per_step": 4}}


# What MLflow's own libraries warn about is theirs to fix.
@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in NAMES])
def make(request, monkeypatch):
    """Builds the sink for a run directory. Nothing leaves the machine."""
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    kind = SINKS.find(request.param)

    def build(folder: Path, config=CONFIG):
        folder.mkdir(parents=True, exist_ok=True)
        return kind(kind.Options(**OFFLINE.get(request.param, {})), run=RunInfo(RunDirectory(folder), config))

    return build


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::sqlalchemy.exc.SADeprecationWarning")


def events(steps=3, *, known=True, first=0):
    """All there is to be told, a learnt step, a refused one and a warning among it."""
    yield RunStarted("run", ("mug", "book"), steps if known else None, first_step=first)
    for step in range(first, steps):
        yield StepArrived(step, {step: (10 * step,)})
        yield StepTested(step, {10 * step: FOUND}, {10 * step: Labels.none()})
        yield Warned(step, "something looks wrong")
        refused = "the loss is nan" if step == 1 else None
        losses = {} if refused else {"current/region_class": 0.5}
        yield StepLearned(step, losses, (10 * step,), (0,), (0,), None, 1000, {"train": 0.1}, refused=refused)
        yield Evaluated(step, {"mug": 0.5, "book": None}, 0.1, {7: FOUND})
        yield StepFinished(step, seconds=1.0)
    yield StreamEnded(steps)
    yield RunFinished(steps, seconds=2.0)


@pytest.mark.parametrize("known", [True, False], ids=["a known length", "an unknown length"])
def test_it_takes_every_event(make, tmp_path, known):
    with make(tmp_path / "run") as sink:
        for event in events(known=known):
            sink(event)


def test_it_writes_nothing_outside_of_its_directory(make, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    with make(tmp_path / "run") as sink:
        for event in events():
            sink(event)

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_it_hides_no_error_and_is_closed_by_it(make, tmp_path):
    with pytest.raises(ZeroDivisionError), make(tmp_path / "run") as sink:
        for event in list(events())[:4]:
            sink(event)
        raise ZeroDivisionError


def test_a_run_may_be_over_before_it_began(make, tmp_path):
    with make(tmp_path / "run") as sink:
        for event in events(steps=0):
            sink(event)


def test_saved_and_loaded_it_goes_on(make, tmp_path):
    with make(tmp_path / "run") as sink:
        for event in list(events())[:8]:
            sink(event)
        state = io.BytesIO()
        # A checkpoint holds tensors and plain values only.
        torch.save(sink.state_dict(), state)
    state.seek(0)

    again = make(tmp_path / "run")
    again.load_state_dict(torch.load(state, weights_only=True))
    with again:
        for event in events(first=1):
            again(event)

    assert again.state_dict().keys() == sink.state_dict().keys()
