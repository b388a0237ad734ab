"""Every sink is told every event; what ends a run early leaves a checkpoint that is consistent."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidRun
from leocod.events import RunFinished, RunStarted, StepFinished, StepLearned
from leocod.run.config import load_config
from leocod.run.driver import Begin, drive, restore
from leocod.run.experiment import build
from leocod.run.layers import parse_override
from leocod.run.record.guard import Guard
from leocod.sinks.base import BaseSink


@pytest.fixture
def parts():
    texts = (
        "benchmark={name: wander, steps: 2, frames_per_step: 4, width: 64, height: 48, places: 2, instances: 4}",
        "detector={name: tiny, weights: null, short_side: 48, regions: 16, proposals: 24}",
        "labels.per_step=2",
        "evaluate.every=1",
    )
    return build(load_config(None, map(parse_override, texts))).parts


class Listener(BaseSink):
    """Notes what it is told; fails at some event, if at all."""

    def __init__(self, fails_at=()):
        self.heard, self.fails_at = [], fails_at

    def __call__(self, event):
        self.heard.append(type(event).__name__)
        if isinstance(event, self.fails_at):
            raise ValueError("a sink that fails")


class Saves(Listener):
    """Stands in for checkpoints."""

    saved = 0

    def save(self):
        self.saved += 1


def test_every_sink_hears_the_same_from_the_start_to_the_end(parts):
    one, two = Listener(), Listener()

    drive(parts, "run", Begin(0), Guard(20), [one, two])

    assert one.heard == two.heard
    assert (one.heard[0], one.heard[-1]) == (RunStarted.__name__, RunFinished.__name__)
    assert one.heard.count(StepFinished.__name__) == 2


def test_where_only_some_sinks_know_of_an_event_nothing_is_saved(parts):
    saves = Saves()

    with pytest.raises(ValueError, match="a sink that fails"):
        drive(parts, "run", Begin(0), Guard(20), [Listener(fails_at=StepLearned)], saves)

    assert saves.saved == 0


def test_a_state_that_does_not_fit_is_a_damaged_checkpoint(parts, tmp_path):
    with pytest.raises(InvalidRun, match="step_00001.pt cannot be loaded"):
        restore(parts, (tmp_path / "step_00001.pt", {"learner": {}}), {})


def test_without_a_checkpoint_a_run_begins_at_its_first_step(parts):
    assert restore(parts, None, {}) == Begin(0)
