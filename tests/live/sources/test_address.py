"""Streams that are really served on this machine: MJPEG and HLS over HTTP, films on a web server, RTSP."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Event

import pytest
from rtsp_server import RtspServer

from leocod.errors import InvalidConfig, LeocodError, SourceAway
from leocod.live.sources.address import open_address
from leocod.live.sources.remote import RemoteSource


def opened(address: str, *, fps: float | None = None, loop: bool = False) -> RemoteSource:
    return open_address(address, fps=fps, loop=loop, stopped=Event())


def levels(source, most=None):
    """The brightness of the frames, in steps of 20."""
    try:
        return [round(float(one.image.mean()) / 20) for one in islice(source, most)]
    finally:
        source.close()


def test_mjpeg_pictures_come_as_they_are_sent(web):
    source = opened(f"{web.address}/live")

    assert source.endless
    assert levels(source, 5) == [0, 1, 2, 3, 4]


def test_a_camera_that_changes_its_size_goes_on(web):
    web.sizes = [(48, 64), (48, 64), (96, 32), (64, 96)]
    source = opened(f"{web.address}/live")

    assert (source.height, source.width) == (48, 64)
    assert [one.image.shape for one in islice(source, 4)] == [(*size, 3) for size in web.sizes]
    assert (source.height, source.width) == (64, 96)
    source.close()


def test_mjpeg_that_breaks_off_hands_out_what_came_before(web):
    web.waits = False
    source = opened(f"{web.address}/live")
    seen = []

    # Half a picture at the end may be an error, or the end.
    with suppress(SourceAway):
        seen.extend(one.number for one in source)
    source.close()

    assert source.endless
    assert seen[:4] == [0, 1, 2, 3]


def test_an_hls_list_of_a_whole_film_is_played_at_its_pace_and_ends(a_film, web):
    a_film("list.m3u8", hls_time="0.5", hls_playlist_type="vod")
    source = opened(f"{web.address}/list.m3u8")

    assert not source.endless
    frames = list(source)
    source.close()
    assert [round(float(one.image.mean()) / 20) for one in frames] == list(range(10))
    # Nine tenths of a second, though all of it came at once.
    assert frames[-1].captured - frames[0].captured > 0.8


@pytest.mark.slow
def test_an_hls_list_that_is_not_closed_has_no_end(a_film, web, tmp_path):
    path = a_film("list.m3u8", hls_time="0.5", hls_playlist_type="vod")
    path.write_text(path.read_text().replace("#EXT-X-ENDLIST", ""))
    source = opened(f"{web.address}/list.m3u8")

    assert source.endless
    assert levels(source, 10) == list(range(10))


def test_a_film_on_a_web_server_can_be_repeated(a_film, web):
    a_film("film.mp4", movflags="faststart")

    source = opened(f"{web.address}/film.mp4", loop=True)

    assert source.endless
    assert levels(source) == list(range(10))


def test_an_hls_list_leads_to_no_file_of_this_machine(a_film, web, tmp_path):
    secret = a_film("secret.ts")
    lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:1", "#EXTINF:1,", secret.as_uri(), "#EXT-X-ENDLIST", ""]
    (tmp_path / "list.m3u8").write_text("\n".join(lines))

    with pytest.raises(LeocodError):
        opened(f"{web.address}/list.m3u8")


def test_a_list_of_files_in_another_form_is_not_read_either(a_film, web, tmp_path):
    (tmp_path / "list.txt").write_text(f"ffconcat version 1.0\nfile {a_film('secret.ts').as_uri()}\n")

    with pytest.raises(LeocodError, match="not video that can be read"):
        opened(f"{web.address}/list.txt")


def test_not_more_frames_are_handed_out_than_wanted(a_film, web):
    a_film("film.mp4", movflags="faststart")

    first, second = levels(opened(f"{web.address}/film.mp4", fps=2))

    # Half a second later, or a little more.
    assert first == 0
    assert second >= 5


def test_a_real_rtsp_stream_comes_in_order():
    with RtspServer() as server:
        source = opened(server.address)
        frames = list(islice(source, 10))
        source.close()

    assert source.endless
    assert [one.number for one in frames] == list(range(10))
    brightness = [float(one.image.mean()) for one in frames]
    assert brightness == sorted(brightness)
    assert frames[0].image.shape == (48, 64, 3)


def test_a_password_is_used_and_never_shown():
    with RtspServer(password="hunter2") as server:
        source = opened(server.address)
        source.close()
        with pytest.raises(SourceAway, match="wants a user and a password") as refusal:
            opened(server.address.replace("hunter2", "hunter3"))

    assert "hunter" not in f"{source.describe()} {source.__dict__} {refusal.value} {refusal.value.__cause__}"
    assert "rtsp://***@127.0.0.1" in str(refusal.value)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("rtsp://me:secret@nohost.invalid/live", "no host of that name"),
        ("rtsp://me:secret@127.0.0.1:1/live", "nothing answers there"),
        ("file:///etc/passwd", "without file://"),
        ("udp://me:secret@host", "Known: rtsp, rtsps, http, https"),
        ("rtsp://me:secret@", "names no host"),
        ("rtsp://me:secret@host:port/", "not an address"),
        ("http://[me:secret@host", "not an address"),
    ],
)
def test_a_wrong_address_is_one_line_without_the_password(address, message):
    with pytest.raises((InvalidConfig, SourceAway), match=message) as refusal:
        opened(address)

    assert "secret" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_what_is_not_there_or_no_video_is_one_line(web, tmp_path: Path):
    (tmp_path / "page.html").write_text("<html><body>Hello</body></html>")

    with pytest.raises(SourceAway, match=r"no such stream \(404\)"):
        opened(f"{web.address}/nothing")
    with pytest.raises(SourceAway, match="not video that can be read"):
        opened(f"{web.address}/page.html")
