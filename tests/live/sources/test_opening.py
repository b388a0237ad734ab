from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig, InvalidData, SourceAway
from leocod.live.sources import opening
from leocod.live.sources.folder import FolderSource
from leocod.live.sources.opening import open_source
from leocod.live.sources.video_file import VideoFileSource
from leocod.live.sources.world import WorldSource


def test_what_a_person_writes_says_what_is_opened(a_film, tmp_path, a_picture):
    a_picture(tmp_path / "pictures" / "1.png")

    assert isinstance(open_source("world", seed=1), WorldSource)
    assert isinstance(open_source(str(a_film())), VideoFileSource)
    assert isinstance(open_source(str(tmp_path / "pictures")), FolderSource)


@pytest.mark.parametrize(
    ("text", "kind", "given"),
    [
        ("0", "open_camera", {"fps": 5.0}),
        ("/dev/video12", "open_camera", {"fps": 5.0}),
        ("rtsp://host/1", "open_address", {"fps": 5.0, "loop": True}),
        ("HTTP://host/1", "open_address", {"fps": 5.0, "loop": True}),
    ],
)
def test_cameras_and_addresses_are_told_apart(monkeypatch, text, kind, given):
    calls = []
    monkeypatch.setattr(opening, kind, lambda text, *, stopped, **named: calls.append((text, named)))

    open_source(text, fps=5.0, loop=True)

    assert calls == [(text, given)]


def test_a_path_is_meant_by_a_dot_before_it(tmp_path, a_picture, monkeypatch):
    a_picture(tmp_path / "0" / "1.png")
    monkeypatch.chdir(tmp_path)

    assert isinstance(open_source("./0"), FolderSource)


@pytest.mark.parametrize("text", ["", "nothing", "a\0b", "x" * 5000, "\ud800"])
def test_what_is_not_there_is_one_line(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidData) as refusal:
        open_source(text)

    assert "\n" not in str(refusal.value)
    assert "\0" not in str(refusal.value)


def test_a_missing_camera_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr("leocod.live.sources.camera.DEVICES", tmp_path)

    with pytest.raises(SourceAway, match="no such camera"):
        open_source("7")


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf"), 1001])
def test_an_impossible_rate_is_refused(fps):
    with pytest.raises(InvalidConfig, match="fps is"):
        open_source("world", fps=fps)
