from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from leocod.live.sources.base import Pace, Source
from leocod.live.sources.clock import JumpingClock


class Nothing(Source):
    endless = False

    def describe(self):
        return "nothing"

    def __iter__(self):
        return iter(())


@pytest.fixture
def clock():
    return JumpingClock()


def test_frames_wait_for_their_time(clock):
    pace = Pace(clock, Event())

    waited = []
    for seconds in (5.0, 5.5, 7.0):
        pace.wait_until(seconds)
        waited.append(clock.now())

    assert waited == [0, 0.5, 2]


def test_a_short_delay_is_made_up_for(clock):
    pace = Pace(clock, Event())
    pace.wait_until(0)
    clock.sleep(0.8, Event())

    assert [pace.wait_until(0.5) and clock.now(), pace.wait_until(1.0) and clock.now()] == [0.8, 1.0]


def test_a_long_delay_puts_the_rest_off(clock):
    pace = Pace(clock, Event())
    pace.wait_until(0)
    clock.sleep(60, Event())

    assert [pace.wait_until(0.5) and clock.now(), pace.wait_until(1.0) and clock.now()] == [60, 60.5]


@pytest.mark.parametrize("jump", [-1000.0, 1000.0])
def test_a_jump_in_the_times_of_a_stream_is_no_reason_to_wait(clock, jump):
    pace = Pace(clock, Event())
    pace.wait_until(2000.0)

    assert [pace.wait_until(2000.0 + jump + late) and clock.now() for late in (0, 0.5)] == [0, 0.5]


def test_whoever_waits_is_told_to_stop(clock):
    stopped = Event()
    stopped.set()

    assert not Pace(clock, stopped).wait_until(0)


def test_the_size_is_that_of_the_newest_frame(clock):
    source = Nothing(clock, Event())

    for size in ((48, 64, 3), (64, 48, 3)):
        captured = source.capture(np.zeros(size, np.uint8), 0)
        assert (source.height, source.width) == size[:2]

    assert captured.captured == clock.time()
    source.close()
