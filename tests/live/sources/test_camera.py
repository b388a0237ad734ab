"""Cameras, as far as they can be tested without one: what FFmpeg is asked for, and a made-up one behind it."""

from __future__ import annotations

from itertools import islice
from threading import Event

import pytest

from leocod.errors import InvalidConfig, SourceAway
from leocod.live.sources import camera
from leocod.live.sources.camera import make_feed, open_camera
from leocod.live.sources.decoder import Feed


@pytest.fixture
def devices(tmp_path, monkeypatch):
    monkeypatch.setattr(camera, "DEVICES", tmp_path)
    (tmp_path / "video0").write_text("")
    return tmp_path


def test_on_linux_a_number_is_a_device(devices):
    feed = make_feed("0", "camera 0", 5, "linux")

    assert (feed.name, feed.format, feed.fps) == (str(devices / "video0"), "v4l2", 5)


def test_a_camera_that_is_not_there_is_one_line_that_names_the_others(devices):
    with pytest.raises(SourceAway, match=r"camera 3: there is no such camera.*video0\.$"):
        make_feed("3", "camera 3", None, "linux")


def test_other_systems_have_their_own_names(monkeypatch):
    monkeypatch.setattr(camera, "_find_windows_name", lambda number, title: f"Webcam {number}")

    assert make_feed("1", "", None, "darwin").name == "1:none"
    assert make_feed("1", "", None, "win32").name == "video=Webcam 1"
    for system, text in (("darwin", "/dev/video0"), ("plan9", "0")):
        with pytest.raises(InvalidConfig):
            make_feed(text, "", None, system)


def test_a_windows_camera_that_is_not_there_is_one_line():
    with pytest.raises((SourceAway, ValueError)):
        camera._find_windows_name(99, "camera 99")


@pytest.mark.skipif("not __import__('sys').platform.startswith('linux')")
def test_a_file_that_is_no_camera_is_one_line(devices):
    with pytest.raises(SourceAway, match="camera 0: it is not a camera"):
        open_camera("0", fps=None, stopped=Event())


def test_frames_of_a_device_come_at_its_pace(monkeypatch):
    made_up = Feed("testsrc=size=64x48:rate=50,realtime", "lavfi")
    monkeypatch.setattr(camera, "make_feed", lambda *_: made_up)

    source = open_camera("0", fps=None, stopped=Event())
    frames = list(islice(source, 10))
    source.close()

    assert source.endless
    assert source.describe() == "camera 0"
    assert frames[9].image.shape == (48, 64, 3)
    assert frames[9].captured - frames[0].captured > 0.1
