"""Whoever is slow loses frames and not the camera; whoever loses the camera finds it again."""

from __future__ import annotations

import threading
import time
from random import Random
from threading import Event

import numpy as np
import pytest
from rtsp_server import RtspServer

from leocod.errors import InvalidData, SourceAway
from leocod.live.grabber import STEADY, Grabber, grow_pauses
from leocod.live.sources.base import Source
from leocod.live.sources.clock import JumpingClock
from leocod.live.sources.opening import open_source

GENEROUS = 60
"""Seconds that no machine should need."""


class Scripted(Source):
    """Sends so many frames, one every `gap` seconds, and then ends, fails or waits until it is stopped."""

    def __init__(self, clock, stopped, frames=0, *, endless=True, failure=None, waits=False, gap=0.1):
        super().__init__(clock, stopped)
        self.frames, self.endless, self.failure, self.waits, self.gap = frames, endless, failure, waits, gap
        self.closed = False

    def describe(self):
        return "the camera"

    def __iter__(self):
        for number in range(self.frames):
            self.clock.sleep(self.gap, self.stopped)
            yield self.capture(np.full((2, 2, 3), number, np.uint8), number)
        if self.failure is not None:
            raise self.failure
        if self.waits:
            self.stopped.wait(GENEROUS)

    def close(self):
        self.closed = True


class Recording(JumpingClock):
    def __init__(self):
        super().__init__()
        self.pauses = []

    def sleep(self, seconds, stopped):
        super().sleep(seconds, stopped)
        if threading.current_thread().name == "leocod-grabber":
            self.pauses.append(seconds)


def grab(*acts, offer=lambda _: True, clock=None):
    """A grabber whose source does one act after the other, each time it is opened; an exception is one, too."""
    clock = clock or Recording()
    left = list(acts)
    sources = []

    def open(stopped):
        act = left.pop(0)
        if isinstance(act, Exception):
            raise act
        sources.append(Scripted(clock, stopped, **act))
        return sources[-1]

    grabber = Grabber(open, offer, clock=clock, random=Random(0))
    return grabber, sources, clock


def wait_for(condition):
    deadline = time.monotonic() + GENEROUS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def run(grabber):
    grabber.start()
    wait_for(lambda: grabber.state.status == "ended")
    return grabber.state


def test_every_frame_of_a_source_with_an_end_is_offered_once_in_order():
    frames = []
    grabber, (), _ = grab({"frames": 5, "endless": False}, offer=lambda one: frames.append(one) or True)

    state = run(grabber)

    assert [one.number for one in frames] == [0, 1, 2, 3, 4]
    assert grabber.newest is frames[-1]
    assert (state.seen, state.dropped, state.reconnects, state.fps) == (5, 0, 0, 0)
    assert state.message == "the camera: it is over."


def test_frames_for_which_there_is_no_room_are_dropped_and_counted():
    taken = []
    grabber, (), _ = grab({"frames": 5, "endless": False}, offer=lambda one: len(taken) < 2 and not taken.append(one))

    state = run(grabber)

    assert (state.seen, state.dropped) == (5, 3)
    assert [one.number for one in taken] == [0, 1]
    assert grabber.newest.number == 4


def test_a_source_that_cannot_be_opened_at_first_is_an_error_at_once():
    grabber, _, clock = grab(SourceAway("no host of that name"))

    with pytest.raises(SourceAway, match="no host of that name"):
        grabber.start()

    assert clock.pauses == []
    grabber.stop()


def test_pauses_grow_up_to_half_a_minute_and_differ_a_little():
    pauses = [pause for pause, _ in zip(grow_pauses(Random(1)), range(2000), strict=False)]

    for pause, usual in zip(pauses, [0.5, 1, 2, 4, 8, 16] + [30] * 1994, strict=True):
        assert 0.9 * usual <= pause <= 1.1 * usual
    assert len(set(pauses)) == 2000


def test_a_lost_source_is_opened_again_with_growing_pauses():
    away = [SourceAway("nothing answers")] * 7
    grabber, sources, clock = grab({"frames": 2}, *away, {"frames": 3, "endless": False})

    state = run(grabber)

    pauses = [pause for pause in clock.pauses if pause > 0.2]
    assert pauses == pytest.approx([0.5, 1, 2, 4, 8, 16, 30, 30], rel=0.11)
    assert (state.seen, state.reconnects) == (5, 1)
    assert grabber.newest.number == 4
    assert all(source.closed for source in sources)


def test_after_a_steady_time_pauses_begin_anew_but_not_after_a_flicker():
    steady = int(STEADY / 0.1) + 2
    acts = [{"frames": 1}, {"frames": 1}, {"frames": steady}, {"frames": 1, "endless": False}]
    grabber, _, clock = grab(*acts)

    run(grabber)

    assert [pause for pause in clock.pauses if pause > 0.2] == pytest.approx([0.5, 1, 0.5], rel=0.11)


def test_whoever_looks_sees_that_it_is_lost_and_why():
    seen = []
    away = SourceAway("rtsp://***@host: nothing answers there.")
    grabber, _, clock = grab({"frames": 40}, away, {"frames": 1, "endless": False})
    real = clock.sleep
    clock.sleep = lambda seconds, stopped: (seen.append(grabber.state), real(seconds, stopped))

    run(grabber)

    lost = [one for one in seen if one.status == "reconnecting"]
    assert lost[0].message.startswith("the camera: the stream broke off. Next attempt in 0.")
    assert lost[1].message.startswith("rtsp://***@host: nothing answers there. Next attempt in ")
    assert {one.fps for one in lost} == {0}
    running = [one for one in seen if one.status == "running"]
    assert running[39].fps == pytest.approx(10)
    assert running[39].message is None


def test_the_rate_falls_when_frames_stay_away():
    grabber, (), clock = grab({"frames": 20, "waits": True})
    grabber.start()
    wait_for(lambda: grabber.state.seen == 20)

    assert grabber.state.fps == pytest.approx(10)
    JumpingClock.sleep(clock, 10, Event())
    assert grabber.state.fps < 2
    grabber.stop()


def test_an_error_in_the_middle_of_a_film_ends_it_and_one_of_a_network_does_not():
    grabber, _, _ = grab({"frames": 1, "endless": False, "failure": InvalidData("film.mp4 is damaged.")})
    assert run(grabber).message == "film.mp4 is damaged."

    again = {"frames": 1, "endless": False}
    grabber, _, _ = grab({"frames": 1, "endless": False, "failure": SourceAway("broken off")}, again)
    assert run(grabber).reconnects == 1


def test_a_mistake_of_our_own_is_seen(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", told.append)

    def offer(_):
        raise TypeError("no")

    grabber, sources, _ = grab({"frames": 1}, offer=offer)
    state = run(grabber)
    grabber.stop()

    assert "mistake" in state.message
    assert sources[0].closed
    assert told[0].exc_type is TypeError


@pytest.mark.parametrize("act", [{"waits": True}, {"frames": 1, "failure": SourceAway("away")}])
def test_it_stops_while_it_waits_for_a_frame_or_between_attempts(act):
    entered = Event()

    class Slow(JumpingClock):
        def sleep(self, seconds, stopped):
            if seconds > 0.2:
                entered.set()
                stopped.wait(GENEROUS)

    grabber, sources, _ = grab(act, clock=Slow())
    grabber.start()
    assert "waits" in act or entered.wait(GENEROUS)

    began = time.monotonic()
    grabber.stop()

    assert grabber.state.status == "ended"
    assert grabber.state.message == "It was stopped."
    assert time.monotonic() - began < GENEROUS / 4
    assert sources[0].closed


def open_rtsp(server):
    return lambda stopped: open_source(server.address, stopped=stopped)


def test_a_real_stream_is_stopped_at_once_while_it_is_silent():
    with RtspServer() as server:
        grabber = Grabber(open_rtsp(server), lambda _: True)
        grabber.start()
        wait_for(lambda: grabber.state.seen > 3)
        server.silent.set()

        began = time.monotonic()
        grabber.stop()

    assert grabber.state.status == "ended"
    assert time.monotonic() - began < 5


def test_a_real_stream_that_is_cut_and_restored_comes_back():
    with RtspServer(password="hunter2") as server:
        grabber = Grabber(open_rtsp(server), lambda _: True)
        grabber.start()
        wait_for(lambda: grabber.state.seen > 3)
        server.cut()
        wait_for(lambda: grabber.state.status == "reconnecting")
        message = grabber.state.message
        server.restore()
        wait_for(lambda: grabber.state.reconnects == 1)
        before = grabber.state.seen
        wait_for(lambda: grabber.state.seen > before + 3)
        grabber.stop()

    assert "hunter2" not in message
    assert "rtsp://***@127.0.0.1" in message


def test_the_world_is_never_lost():
    with_event = []
    grabber = Grabber(
        lambda stopped: open_source("world", clock=JumpingClock(), stopped=stopped),
        lambda one: with_event.append(one) or True,
    )
    source = grabber.start()
    wait_for(lambda: grabber.state.seen > 20)
    grabber.stop()

    assert source.truth(with_event[5].number).boxes.shape[1] == 4
    assert grabber.state.status == "ended"
