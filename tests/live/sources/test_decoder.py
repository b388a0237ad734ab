"""What the process that decodes sends, tested without the process."""

from __future__ import annotations

import io
import json

import av
import pytest

from leocod.files.images import LARGEST
from leocod.live.sources import decoder
from leocod.live.sources.decoder import LENGTH, Feed, RateLimit, decode


class Pipe(io.BytesIO):
    """Takes so many writes, then nobody listens any more."""

    def __init__(self, most):
        super().__init__()
        self.left = most

    def write(self, content):
        if not self.left:
            raise BrokenPipeError
        self.left -= 1
        return super().write(content)


def sent(feed):
    """The headers that are sent; pixels follow each but an error."""
    pipe = Pipe(1000)
    decode(feed, pipe)
    pipe.seek(0)
    headers = []
    while length := pipe.read(LENGTH.size):
        headers.append(json.loads(pipe.read(LENGTH.unpack(length)[0])))
        height, width = headers[-1].get("size", (0, 0))
        assert len(pipe.read(height * width * 3)) == height * width * 3
    return headers


def test_each_frame_is_a_header_and_its_pixels():
    headers = sent(Feed("testsrc=size=64x48:rate=10:duration=0.3", "lavfi"))

    assert [(one["size"], one["number"], one["has_end"]) for one in headers] == [
        ([48, 64], number, False) for number in range(3)
    ]


def test_what_cannot_be_opened_is_one_message():
    (header,) = sent(Feed("/nowhere/video0"))

    assert header == {"error": "there is no such camera. Is it plugged in?", "unusable": False}


def test_what_has_no_video_is_not_used():
    (header,) = sent(Feed("sine=duration=0.1", "lavfi"))

    assert header == {"error": "it has no video in it", "unusable": True}


def test_frames_that_are_too_large_are_not_used(monkeypatch):
    monkeypatch.setattr(decoder, "LARGEST", 1000)

    (header,) = sent(Feed("testsrc=size=64x48:duration=0.1", "lavfi"))

    assert "million pixels" in header["error"]
    assert LARGEST > 1000


def test_video_of_an_unknown_kind_is_not_used():
    class Container:
        class streams:  # noqa: N801
            video = (type("Stream", (), {"codec_context": None}),)

    with pytest.raises(decoder.Unusable, match="H.264"):
        decoder._prepare(Container())


@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_it_ends_quietly_when_nobody_listens(most):
    pipe = Pipe(most)

    decode(Feed("testsrc=size=64x48:rate=10", "lavfi"), pipe)

    assert pipe.left == 0


def test_an_error_that_nobody_expected_does_not_show_the_address(monkeypatch):
    def fail(feed):
        raise RuntimeError(feed.name)

    monkeypatch.setattr(decoder, "_open", fail)

    assert sent(Feed("rtsp://me:secret@host")) == [{"error": "runtimeerror", "unusable": False}]


class Packets:
    """Stands for a container: what `demux` yields, one list for each call, or raises."""

    def __init__(self, *packets):
        self.packets = iter(packets)
        self.streams = type("Streams", (), {"video": (None,)})

    def demux(self, _):
        for packet in self.packets:
            if isinstance(packet, Exception):
                raise packet
            yield type("Packet", (), {"decode": lambda self, packet=packet: damage() if packet is None else [packet]})()


def damage():
    raise av.InvalidDataError(1, "damaged")


def test_a_camera_that_has_no_frame_yet_is_asked_again():
    wait = av.BlockingIOError(11, "later")

    assert list(decoder._decode_frames(Packets(1, wait, wait, 2, 3))) == [1, 2, 3]


def test_damaged_packets_are_passed_over_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(decoder, "MOST_DAMAGED", 2)

    assert list(decoder._decode_frames(Packets(None, None, 1, None, None, 2))) == [1, 2]
    with pytest.raises(av.InvalidDataError):
        list(decoder._decode_frames(Packets(1, None, None, None)))


def test_a_rate_is_limited_evenly():
    limit = RateLimit(8)

    passed = [tick for tick in range(100, 132) if limit.allows(tick / 32)]

    assert passed == list(range(100, 132, 4))


def test_a_frame_that_is_late_does_not_put_off_the_others():
    limit = RateLimit(1)

    assert [limit.allows(now) for now in (10.0, 11.5, 12.0, 15.0, 15.5, 16.0)] == [True, True, True, True, False, True]


def test_without_a_limit_every_frame_goes_through():
    limit = RateLimit(None)

    assert all(limit.allows(now) for now in (1.0, 1.0, 1.1))


def test_a_feed_does_not_show_its_address():
    assert "secret" not in repr(Feed("rtsp://me:secret@host"))
