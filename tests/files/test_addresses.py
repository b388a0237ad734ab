from __future__ import annotations

import pytest

from leocod.files.addresses import explain_no_end, hide_secrets, is_address, is_camera


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("rtsp://host/live", "rtsp://host/live"),
        ("rtsp://host:554/live@home", "rtsp://host:554/live@home"),
        ("rtsp://[::1]:554/live", "rtsp://[::1]:554/live"),
        ("rtsp://me:secret@host:554/live", "rtsp://***@host:554/live"),
        ("rtsp://me:sec@ret@host/live", "rtsp://***@host/live"),
        ("rtsp://me:sec/ret@host/live", "rtsp://***@host/live"),
        ("rtsp://me:sec?ret@host/live", "rtsp://***@host/live"),
        ("rtsp://me:sec@re/secret@host/live", "rtsp://***@host/live"),
        ("http://host/video?user=me&pwd=secret", "http://host/video?***"),
        ("http://host/video#secret", "http://host/video"),
        ("rtsp://host/user=me&password=secret&channel=1.sdp", "rtsp://host/user=***&password=***&channel=***"),
        ("rtsp://host/a\nb", "rtsp://host/a\\nb"),
        ("films/a=b@c.mp4", "films/a=b@c.mp4"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(address, shown):
    assert hide_secrets(address) == shown


def test_paths_are_neither_addresses_nor_cameras():
    for text in ("film.mp4", "/data/film.mp4", "C:\\film.mp4", "C://film.mp4", "rtsp:/host", "-1", "1000", "0.5", ""):
        assert not is_address(text)
        assert not is_camera(text)
        assert explain_no_end(text) is None


def test_what_to_use_instead_of_a_run_is_said_without_the_password():
    assert explain_no_end("0") == "the camera 0 has no end, so no run can go through it. Use `leocod live 0`"
    assert (explain_no_end("rtsp://me:secret@host/1") or "").endswith("Use `leocod live rtsp://***@host/1`")
