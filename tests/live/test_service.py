"""Grabbing, learning and looking side by side."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import numpy as np
import pytest
from tests.live.serving import HandSource, wait_for

from leocod.errors import InvalidData, LeocodError
from leocod.live.describe import describe
from leocod.live.service import LiveService, Messages, measure_seconds


@pytest.fixture
def running(open_session) -> Iterator[tuple[LiveService, HandSource]]:
    opened: list[HandSource] = []

    def open_source(stopped: Event) -> HandSource:
        opened.append(HandSource(stopped))
        return opened[-1]

    service = LiveService(open_session(), open_source, Messages())
    service.start()
    yield service, opened[0]
    service.stop()


IMAGE = np.random.default_rng(0).integers(0, 255, (48, 64, 3), np.uint8)


def test_frames_become_steps_and_steps_are_learnt(running) -> None:
    service, source = running

    for _ in range(6):
        source.frames.put(IMAGE)
    wait_for(lambda: service.session.book.steps == 2)

    assert service.steps_seen == 2
    assert service.status == "learning"
    wait_for(lambda: service.session.proposals)
    assert describe(service)["requests"][0]["size"] == [48, 64]


def test_a_slow_learner_drops_frames_and_counts_them(running) -> None:
    service, source = running
    go_on = Event()
    service.submit(go_on.wait)

    for _ in range(30):
        source.frames.put(IMAGE)
    wait_for(lambda: service.grabber.state.seen == 30)

    # Two steps of three frames wait; all others found no room.
    assert service.steps_waiting == 2
    assert service.grabber.state.dropped == 24
    assert describe(service)["counters"]["frames_dropped"] == 24
    go_on.set()
    wait_for(lambda: service.session.book.steps == 2)


def test_while_it_is_paused_nothing_is_learnt_and_nothing_is_dropped(running) -> None:
    service, source = running
    service.pause(True)

    for _ in range(9):
        source.frames.put(IMAGE)
    wait_for(lambda: service.grabber.state.seen == 9)

    assert (service.status, service.steps_waiting, service.grabber.state.dropped) == ("paused", 0, 0)
    service.pause(False)
    for _ in range(3):
        source.frames.put(IMAGE)
    wait_for(lambda: service.session.book.steps == 1)


def test_a_command_is_answered_or_its_error_is(running) -> None:
    service, _ = running

    assert service.submit(lambda: 7).result(30) == 7

    def fail() -> None:
        raise InvalidData("no")

    with pytest.raises(InvalidData, match="no"):
        service.submit(fail).result(30)
    assert service.submit(lambda: service.status, "Counting").result(30) == "busy"
    assert service.status == "learning"


def test_too_many_commands_are_refused(running) -> None:
    service, _ = running
    go_on = Event()
    service.submit(go_on.wait)

    answers = [service.submit(lambda: None) for _ in range(40)]
    refused = [answer for answer in answers if answer.done() and isinstance(answer.exception(), LeocodError)]

    assert refused
    go_on.set()
    assert answers[0].result(30) is None


def test_a_step_that_fails_is_told_and_the_next_one_is_learnt(running, monkeypatch) -> None:
    service, source = running
    with monkeypatch.context() as patch:
        patch.setattr(service.session, "take_step", lambda images, seconds: 1 / 0)
        for _ in range(3):
            source.frames.put(IMAGE)
        wait_for(service.messages.list)
    assert "ZeroDivisionError" in service.messages.list()[-1]["text"]

    for _ in range(3):
        source.frames.put(IMAGE)
    wait_for(lambda: service.session.book.steps == 1)


def test_a_full_disk_is_told_in_words(running, monkeypatch) -> None:
    service, source = running

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(service.session, "take_step", fail)
        for _ in range(3):
            source.frames.put(IMAGE)
        wait_for(service.messages.list)

    assert "No space left on device" in service.messages.list()[-1]["text"]


def test_it_says_when_the_source_is_over(running) -> None:
    service, source = running

    source.frames.put(None)

    wait_for(lambda: service.status == "ended")
    assert "over" in describe(service)["source"]["message"]


def test_pictures_are_made_while_somebody_looks(running) -> None:
    service, source = running
    service.pictures.viewers += 1

    source.frames.put(IMAGE)

    wait_for(lambda: service.pictures.current)
    picture = service.pictures.current
    assert picture is not None
    length = int.from_bytes(picture.message[:4], "big")
    assert picture.message[4 + length :][:2] == b"\xff\xd8"
    assert b'"size":[48,64]' in picture.message[4 : 4 + length]


def test_the_same_message_is_told_once() -> None:
    messages = Messages()

    for _ in range(3):
        messages.add("warning", "The disk is nearly full.")

    assert [one["text"] for one in messages.list()] == ["The disk is nearly full."]


@pytest.mark.parametrize(
    ("captured", "seconds"),
    [
        ([0, 1, 2, 3], 4),
        ([0, 1, 3601, 3602], 4),
        ([0, 0, 2, 2, 4, 4, 6, 6], 48 / 7),
        ([0, 1, 5, 6], 8),
        ([5], 0),
        ([5, 5, 5], 0),
    ],
    ids=["regular", "a pause in between", "in pairs", "a slow moment", "one frame", "no clock"],
)
def test_a_step_is_as_long_as_its_frames_take_without_a_pause_in_it(captured, seconds) -> None:
    assert measure_seconds(captured) == pytest.approx(seconds)
