"""The smallest run that has everything, and what it comes to when nobody disturbs it. The long form is in `soak/`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from digests import digests

from leocod.events import Event, StepFinished
from leocod.files.atomic import write_text
from leocod.run.config import ExperimentConfig, load_config
from leocod.run.layers import overlay, parse_override
from leocod.run.session import run_experiment
from leocod.sinks.base import BaseSink

SMALLEST = (
    "benchmark={name: 'shaky:Shaky', trouble: trouble.json, steps: 5, width: 64, height: 48}",
    "benchmark={places: 2, instances: 4, residents: null, speed: 0.5, stay: 4, frames_per_step: 3}",
    "detector={weights: null, short_side: 48, regions: 16, proposals: 24}",
    "strategy.replay_per_step=3",
    "labels.per_step=1",
    "evaluate={every: 2, start: false}",
    "checkpoint={every: 2}",
)


class At(BaseSink):
    """Does something after a step."""

    def __init__(self, step: int, action: Callable[[], object]) -> None:
        self.step = step
        self.action = action

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepFinished) and event.step == self.step:
            self.action()


@contextmanager
def short_report() -> Iterator[None]:
    """A page without its figures, which take longer than all the rest and are tested elsewhere."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("leocod.run.session.write_report", lambda runs, out: write_text(out, f"<html>{runs}</html>"))
        yield


# Of each test: for the session, it would be there for the tests of other folders that come after.
@pytest.fixture(autouse=True)
def _short_report() -> Iterator[None]:
    with short_report():
        yield


@pytest.fixture
def at() -> type[At]:
    return At


@pytest.fixture
def arguments() -> list[str]:
    """The smallest run, for the command line."""
    return [part for text in SMALLEST for part in ("--set", text)]


@pytest.fixture
def a_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ExperimentConfig]:
    """The smallest run, with overrides. Every test is in a folder of its own, without trouble at first."""
    monkeypatch.chdir(tmp_path)
    return configured


def configured(*overrides: str) -> ExperimentConfig:
    layers: list[dict[str, Any]] = [parse_override(text) for text in (*SMALLEST, *overrides)]
    return load_config(None, [reduce(overlay, layers)])


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the smallest run comes to."""
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    with short_report():
        run_experiment(configured(), run)
    return digests(run)
