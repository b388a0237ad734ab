"""A live service and a page that talks to it, for the tests of the server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from queue import Queue
from threading import Event
from typing import Any

import numpy as np

from leocod.live.sources.base import Captured, Source
from leocod.live.sources.clock import REAL

PORT = 8008
HOST = {"host": f"127.0.0.1:{PORT}"}
OURS = {**HOST, "origin": f"http://127.0.0.1:{PORT}"}


class HandSource(Source):
    """Frames that a test hands out one by one."""

    endless = False

    def __init__(self, stopped: Event) -> None:
        super().__init__(REAL, stopped)
        self.frames: Queue[np.ndarray | None] = Queue()

    def describe(self) -> str:
        return "a hand"

    def __iter__(self) -> Iterator[Captured]:
        number = 0
        while not self.stopped.is_set():
            if self.frames.empty():
                self.stopped.wait(0.01)
                continue
            image = self.frames.get()
            if image is None:
                return
            yield self.capture(image, number)
            number += 1


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "It did not happen."
        time.sleep(0.01)


def ask(socket: Any, **command: Any) -> dict[str, Any]:
    """Send a command and wait for its answer."""
    socket.send_text(json.dumps(command))
    while True:
        message = socket.receive()
        if message.get("text"):
            answer = json.loads(message["text"])
            if answer["type"] == "ack":
                return answer
