"""A source whose frames are decoded in a process of its own, so that waiting for it can always be broken off."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from threading import Event, Thread
from typing import Any

import numpy as np

from leocod.errors import InvalidData, SourceAway
from leocod.files.images import LARGEST
from leocod.live.sources.base import Captured, Source
from leocod.live.sources.clock import REAL
from leocod.live.sources.decoder import LENGTH, Feed

# Not `multiprocessing`, which would run the user's script again in the process. What may be imported is the same there.
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from leocod.live.sources.decoder import main; main()"
)

LOOK = 0.1
"""Seconds between two looks whether to stop."""

LEAVE = 0.5
"""Seconds that the process has to say goodbye to the camera before it is killed."""


class RemoteSource(Source):
    """A camera or an address, open, with its first frame decoded. Its frames may change their size at any time."""

    def __init__(self, feed: Feed, title: str, *, loop: bool = False, stopped: Event) -> None:
        super().__init__(REAL, stopped)
        self.title = title
        # FFmpeg gives up first, and says why. This is for what FFmpeg cannot break off.
        self._patience = 2 * feed.silence + 5 + 1 / (feed.fps or 1.0)
        # Opening and looking into the stream may each take as long as FFmpeg is allowed to wait.
        self._deadline = time.monotonic() + 2 * feed.answer + self._patience
        try:
            self._process = _start(feed)
        except OSError as error:
            raise SourceAway(f"{title}: the process that decodes it cannot be started ({error.strerror}).") from error
        Thread(target=self._keep_watch, name="leocod-watch", daemon=True).start()
        try:
            header = self._receive_header()
            if header is None:
                raise SourceAway(f"{title}: it ended before the first frame.")
            self.endless = loop or not header["has_end"]
            self._first = self._receive_frame(header)
        except BaseException:
            self.close()
            raise

    def describe(self) -> str:
        return self.title

    def __iter__(self) -> Iterator[Captured]:
        yield self._first
        while not self.stopped.is_set() and (header := self._receive_header()) is not None:
            yield self._receive_frame(header)

    def close(self) -> None:
        """End the process."""
        # It notices when it sends the next frame.
        self._process.stdout.close()
        self._end()

    def _end(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE)
        self._process.kill()
        self._process.wait()

    def _keep_watch(self) -> None:
        """End the process when somebody wants to stop, or when no frame has come for too long: a read ends then."""
        while self._process.poll() is None:
            if self.stopped.wait(LOOK) or time.monotonic() > self._deadline:
                self._end()

    def _receive_header(self) -> Any:
        """Wait for the next frame; None at the end."""
        length = self._process.stdout.read(LENGTH.size)
        words = self._process.stdout.read(LENGTH.unpack(length)[0]) if len(length) == LENGTH.size else b""
        if not words:
            return self._explain_end()
        header = json.loads(words)
        if "error" in header:
            kind = InvalidData if header["unusable"] else SourceAway
            raise kind(f"{self.title}: {header['error']}.".replace("?.", "?"))
        return header

    def _receive_frame(self, header: Any) -> Captured:
        height, width = header["size"]
        if not 0 < height * width <= LARGEST:
            raise SourceAway(f"{self.title}: it sends frames of {width} x {height} pixels.")
        image = np.empty((height, width, 3), np.uint8)
        if self._process.stdout.readinto(image.data) < image.nbytes:
            self._explain_end()
            raise SourceAway(f"{self.title}: it broke off in the middle of a frame.")
        self._deadline = time.monotonic() + self._patience
        return self.capture(image, header["number"], header["captured"])

    def _explain_end(self) -> None:
        """Raise an error unless the stream has just ended, or somebody wanted to stop."""
        late = time.monotonic() > self._deadline
        self._end()
        if self.stopped.is_set():
            return
        if late:
            raise SourceAway(f"{self.title}: no frame has come for a long time.")
        if code := self._process.returncode:
            raise SourceAway(f"{self.title}: the process that decodes it has ended with code {code}.")


def _start(feed: Feed) -> Any:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A Ctrl-C in the terminal is not for it. Windows has groups for that, and ignores sessions.
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    # Not among the arguments, where everybody on the machine could read the password. It may have ended already.
    with suppress(OSError), process.stdin:  # type: ignore[union-attr]
        process.stdin.write(json.dumps(asdict(feed)).encode())  # type: ignore[union-attr]
    return process
