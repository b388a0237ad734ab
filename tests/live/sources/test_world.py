from __future__ import annotations

from itertools import islice
from threading import Event

import numpy as np
import pytest

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.live.sources import world
from leocod.live.sources.clock import JumpingClock
from leocod.live.sources.world import WorldSource

OPTIONS = {"steps": 3, "width": 64, "height": 48, "frames_per_step": 4}


@pytest.fixture
def options():
    return WanderOptions.model_validate(OPTIONS)


def opened(options, fps=None):
    return WorldSource(options, seed=3, fps=fps, clock=JumpingClock(), stopped=Event())


def test_its_frames_and_their_truth_are_those_of_the_benchmark(options):
    source = opened(options)
    walk = Wander(options, seed=3)
    pairs = [pair for step in range(3) for pair in walk.frames_of(step)]

    captured = list(islice(source, len(pairs)))

    for one, (frame, labels) in zip(captured, pairs, strict=True):
        assert (one.image == frame.image()).all()
        truth = source.truth(one.number)
        assert (truth.boxes == labels.boxes).all()
        assert (truth.classes == labels.classes).all()
    assert [round(one.captured, 3) for one in captured[:3]] == [0, 0.1, 0.2]


def test_only_the_classes_that_are_shown_are_numbered(options):
    source = opened(WanderOptions.model_validate({**OPTIONS, "only": ("book", "mug")}))

    classes = {int(one) for number in range(24) for one in source.truth(number).classes}

    assert classes <= {0, 1}
    assert source.benchmark.classes == ("book", "mug")


def test_the_walk_goes_on_after_its_end(options, monkeypatch):
    monkeypatch.setattr(world, "LONG_WALK", 2)
    source = opened(options.model_copy(update={"steps": 2}), fps=5)

    frames = list(islice(source, 9))

    assert source.endless
    assert np.array_equal(frames[8].image, frames[0].image)
    assert frames[8].captured == 1.6
    assert source.describe() == "the built-in world, seed 3, at 5 frames a second"


def test_it_ends_when_it_is_stopped(options):
    source = opened(options)
    frames = iter(source)
    next(frames)

    source.stopped.set()

    assert list(frames) == []
