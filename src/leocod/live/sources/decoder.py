"""A process of its own that reads a camera or an address with FFmpeg and sends frames through a pipe.

FFmpeg may wait forever inside a driver or for a name server, and what it parses comes from the network. A process can
be ended at any moment, and if it crashes, the learner goes on.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event
from typing import Any, BinaryIO

import av
import numpy as np

from leocod.files.images import LARGEST
from leocod.files.videos import LIMITS, count_quarter_turns, turn_upright
from leocod.live.sources.base import Pace
from leocod.live.sources.clock import REAL
from leocod.live.sources.reasons import Unusable, explain
from leocod.types import Image

LENGTH = struct.Struct(">H")
"""How the length of a header is sent."""

MOST_DAMAGED = 250
"""Packets in a row that cannot be decoded before a stream counts as lost: whoever joins in waits for a key frame."""

OPTIONS = {"fpsprobesize": "0"}
"""Measuring the rate of a stream takes seconds before the first frame, and nobody needs it."""

TRY_AGAIN = 0.005
"""Seconds before a camera that has no frame yet is asked again."""


@dataclass(frozen=True)
class Feed:
    """What is opened, and how."""

    name: str = field(repr=False)
    """An address, with its password, or a device."""
    format: str | None = None
    """As FFmpeg calls it; None: as found."""
    options: dict[str, str] = field(default_factory=dict)
    fps: float | None = None
    """Frames a second at most; others are left out."""
    buffered: bool = False
    """Whether frames may come faster than they are to be shown, as those of a file on a server do."""
    answer: float = 10.0
    """Seconds to wait for an answer when it is opened."""
    silence: float = 5.0
    """Seconds without a packet after which it is lost. FFmpeg may hand out what it held back, and wait once more."""


class RateLimit:
    """Lets so many frames a second through at most, evenly spread."""

    def __init__(self, fps: float | None) -> None:
        self._gap = 0.0 if fps is None else 1 / fps
        self._next = 0.0

    def allows(self, now: float) -> bool:
        """Whether a frame that comes now goes through."""
        if now < self._next:
            return False
        # A frame that is a little late does not put off those after it.
        self._next = self._gap + (self._next if now - self._next < self._gap else now)
        return True


def main() -> None:
    """Read a feed in JSON from the standard input, and send its frames to the standard output."""
    feed = Feed(**json.load(sys.stdin))
    # What anything else prints must not get among the frames. Closing the pipe fails where nobody listens any more.
    with suppress(OSError), os.fdopen(os.dup(sys.stdout.fileno()), "wb") as pipe:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        decode(feed, pipe)


def decode(feed: Feed, pipe: BinaryIO) -> None:
    """Send a header and the pixels of each frame, or at last a header that says what went wrong."""
    number = 0
    # Where nobody listens any more, this is over.
    with suppress(_Unheard):
        try:
            with _open(feed) as container:
                has_end = feed.buffered and bool(container.duration)
                for image in _read_images(feed, container):
                    header = {"size": image.shape[:2], "captured": time.time(), "number": number, "has_end": has_end}
                    _send(pipe, header, image)
                    number += 1
        except _Unheard:
            raise
        # Whatever it is: a traceback could hold the address.
        except Exception as error:
            stalled = number and isinstance(error, av.ExitError)
            reason = "nothing comes any more" if stalled else explain(error, feed.name)
            _send(pipe, {"error": reason, "unusable": isinstance(error, Unusable)})


class _Unheard(Exception):
    """The other end of the pipe is closed."""


def _send(pipe: BinaryIO, header: dict[str, Any], image: Image | None = None) -> None:
    """Send the length of a header, the header in JSON, and the pixels."""
    words = json.dumps(header).encode()
    try:
        pipe.write(LENGTH.pack(len(words)) + words)
        if image is not None:
            pipe.write(image.data)
        pipe.flush()
    except OSError as error:
        raise _Unheard from error


def _open(feed: Feed) -> Any:
    container = av.open(
        feed.name,
        format=feed.format,
        options={**OPTIONS, **LIMITS, **feed.options},
        timeout=(feed.answer, feed.silence),
        metadata_errors="replace",
    )
    try:
        _prepare(container)
    except Unusable:
        container.close()
        raise
    return container


def _prepare(container: Any) -> None:
    if not container.streams.video:
        raise Unusable("it has no video in it")
    codec = container.streams.video[0].codec_context
    if codec is None:
        raise Unusable("its video is of a kind that cannot be decoded here. Set the camera to H.264 or MJPEG")
    if codec.width * codec.height > LARGEST:
        raise Unusable(f"its frames have more than {LARGEST // 10**6} million pixels. Set the camera to fewer")
    codec.options = LIMITS
    # More threads would hold frames back.
    codec.thread_type = "SLICE"


def _read_images(feed: Feed, container: Any) -> Iterator[Image]:
    """Yield the frames that are whole, upright, at their pace if they come faster, and not more than wanted."""
    # MJPEG over HTTP has no times of its own, and comes as it is taken.
    pace = Pace(REAL, Event()) if feed.buffered and "jpeg" not in container.format.name else None
    limit = RateLimit(feed.fps)
    for frame in _decode_frames(container):
        if frame.is_corrupt:
            continue
        if pace is not None and frame.time is not None:
            pace.wait_until(frame.time)
        if limit.allows(time.monotonic()):
            pixels = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            yield turn_upright(pixels, count_quarter_turns(frame))


def _decode_frames(container: Any) -> Iterator[Any]:
    damaged = 0
    for packet in _read_packets(container):
        try:
            frames = packet.decode()
        except av.InvalidDataError:
            damaged += 1
            if damaged > MOST_DAMAGED:
                raise
            continue
        damaged = 0 if frames else damaged
        yield from frames


def _read_packets(container: Any) -> Iterator[Any]:
    while True:
        try:
            yield from container.demux(container.streams.video[0])
            return
        except BlockingIOError:
            time.sleep(TRY_AGAIN)
