from __future__ import annotations

import errno

import av
import pytest

from leocod.live.sources.reasons import Unusable, explain

ADDRESS = "rtsp://me:secret@127.0.0.1/live"


def ffmpeg(code: int, name: str) -> Exception:
    with pytest.raises(av.FFmpegError) as caught:
        av.error.err_check(-code, name)
    return caught.value


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        (b"\xf8401", "USER:PASSWORD"),
        (b"\xf8404", "no such stream"),
        (b"\xf8DEC", "H.264 or MJPEG"),
        (b"EXIT", "does not answer"),
        (b"INDA", "not video"),
        (b"OHNO", "error number"),
    ],
)
def test_an_error_of_ffmpeg_is_a_line_with_a_cure_and_without_the_address(tag, words):
    reason = explain(ffmpeg(av.error.tag_to_code(tag), ADDRESS), ADDRESS)

    assert words in reason
    assert "secret" not in reason
    assert "\n" not in reason


def test_an_error_of_a_camera_is_not_one_of_an_address():
    assert "group `video`" in explain(ffmpeg(errno.EACCES, "/dev/video0"), "/dev/video0")
    assert explain(ffmpeg(errno.EACCES, ADDRESS), ADDRESS) == "permission denied"
    assert "another program" in explain(ffmpeg(errno.EBUSY, "/dev/video0"), "/dev/video0")


def test_a_host_that_does_not_exist_is_named_as_the_reason():
    assert "no host" in explain(ffmpeg(errno.EIO, ADDRESS), "rtsp://me:secret@nohost.invalid/live")


def test_our_own_words_are_kept():
    assert explain(Unusable("it has no video in it"), ADDRESS) == "it has no video in it"
    # The words of others may hold the address.
    assert explain(ValueError(ADDRESS), ADDRESS) == "valueerror"
