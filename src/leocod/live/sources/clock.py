"""Time, as sources and those who run them use it: it can be replaced by one that does not make anybody wait."""

from __future__ import annotations

import time
from threading import Event
from typing import Protocol


class Clock(Protocol):
    """Tells the time, and waits."""

    def time(self) -> float:
        """The time of day, in seconds since 1970. It may jump."""
        ...

    def now(self) -> float:
        """Seconds from some moment on. It never jumps."""
        ...

    def sleep(self, seconds: float, stopped: Event) -> None:
        """Wait so long, or until `stopped` is set."""
        ...


class RealClock:
    """The clock of the machine."""

    def time(self) -> float:
        return time.time()

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float, stopped: Event) -> None:
        stopped.wait(seconds)


class JumpingClock:
    """Time that passes only by waiting, and then at once: for tests, and for simulations that do not wait."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def time(self) -> float:
        return self._now

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float, stopped: Event) -> None:
        self._now += max(0.0, seconds)


REAL = RealClock()
