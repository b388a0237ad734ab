from __future__ import annotations

from itertools import islice
from threading import Event

import pytest

from leocod.errors import InvalidData
from leocod.live.sources.clock import JumpingClock
from leocod.live.sources.video_file import VideoFileSource


def opened(path, *, fps=None, loop=False):
    return VideoFileSource(path, fps=fps, loop=loop, clock=JumpingClock(), stopped=Event())


def seen(source, most=None):
    return [(round(float(one.image.mean()) / 20), round(one.captured, 3)) for one in islice(source, most)]


def test_frames_come_at_the_times_of_the_file(a_film):
    source = opened(a_film(milliseconds=[0, 100, 130, 500]))

    assert (source.height, source.width, source.endless) == (48, 64, False)
    assert seen(source) == [(0, 0), (1, 0.1), (2, 0.13), (3, 0.5)]


def test_another_rate_can_be_asked_for(a_film):
    source = opened(a_film(milliseconds=[0, 100, 130, 500]), fps=4)

    assert seen(source) == [(0, 0), (1, 0.25), (2, 0.5), (3, 0.75)]
    assert source.describe().endswith("film.mp4 at 4 frames a second")


def test_a_film_can_begin_again_without_a_pause(a_film):
    source = opened(a_film(milliseconds=[0, 100, 200]), loop=True)

    assert source.endless
    times = [time for _, time in seen(source, 7)]
    assert [level for level, _ in seen(source, 7)] == [0, 1, 2, 0, 1, 2, 0]
    assert times == sorted(times)
    assert times[3] == pytest.approx(0.3, abs=0.05)
    assert "again and again" in source.describe()


def test_a_film_ends_when_it_is_stopped(a_film):
    source = opened(a_film(), loop=True)
    frames = iter(source)
    next(frames)

    source.stopped.set()

    assert list(frames) == []


def test_a_file_that_is_no_film_is_one_line_at_once(tmp_path):
    (tmp_path / "text.mp4").write_text("Hello")

    with pytest.raises(InvalidData, match="text.mp4 is not a readable video"):
        opened(tmp_path / "text.mp4")


def test_a_film_that_is_replaced_while_it_loops_is_an_error(a_film):
    path = a_film()
    frames = iter(opened(path, loop=True))
    list(islice(frames, 10))

    path.write_text("Hello")

    with pytest.raises(InvalidData):
        next(frames)
