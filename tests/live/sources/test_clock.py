from __future__ import annotations

import time
from threading import Event

from leocod.live.sources.clock import REAL, JumpingClock


def test_a_jumping_clock_waits_for_nobody():
    clock = JumpingClock(100)

    clock.sleep(3600, Event())
    clock.sleep(-1, Event())

    assert clock.now() == clock.time() == 3700


def test_the_real_clock_wakes_up_when_it_is_stopped():
    stopped = Event()
    stopped.set()
    before = REAL.now()

    REAL.sleep(3600, stopped)

    assert REAL.now() - before < 60
    assert abs(REAL.time() - time.time()) < 60
