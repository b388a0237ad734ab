"""What a source is: frames that come at their own pace, whether somebody is ready for them or not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from threading import Event
from typing import NamedTuple

from leocod.live.sources.clock import Clock
from leocod.types import Image

LATE = 1.0
"""Seconds that a frame may be late before the rest is put off: less is made up for."""

LONGEST_WAIT = 10.0
"""Seconds to the next frame at most. More is a jump in the times of a stream, not a pause."""


class Captured(NamedTuple):
    """A frame, and when it was taken."""

    image: Image
    """Height x width x 3, red first. A camera that is turned or set anew sends frames of another size from then on."""
    captured: float
    """Time of day, in seconds since 1970."""
    number: int
    """Counted from 0."""


class Source(ABC):
    """An open source. It is iterated once, at the stream's pace.

    The iteration ends at the end of the source, or soon after `stopped` is set. A source that is lost on the way raises
    SourceAway; opened anew, it may go on.
    """

    endless: bool
    """Whether it should never end, so that an end means that it was lost."""
    height: int | None = None
    width: int | None = None
    """Of the newest frame, in pixels."""

    def __init__(self, clock: Clock, stopped: Event) -> None:
        self.clock = clock
        self.stopped = stopped

    @abstractmethod
    def describe(self) -> str:
        """Name it for a person, without passwords."""

    @abstractmethod
    def __iter__(self) -> Iterator[Captured]: ...

    def close(self) -> None:  # noqa: B027
        """Let go of the device or the connection, if there is one."""

    def capture(self, image: Image, number: int, captured: float | None = None) -> Captured:
        """Make a captured frame, and note its size."""
        self.height, self.width = image.shape[:2]
        return Captured(image, self.clock.time() if captured is None else captured, number)


class Pace:
    """Waits until it is time for the next frame."""

    def __init__(self, clock: Clock, stopped: Event) -> None:
        self._clock = clock
        self._stopped = stopped
        self._start: float | None = None

    def wait_until(self, seconds: float) -> bool:
        """Wait until a stream that runs since the first call is at this time; return whether to go on.

        What comes much too late, or much too early, moves the start: after a hole, a stream goes on at its own pace.
        """
        now = self._clock.now()
        ahead = LONGEST_WAIT if self._start is None else self._start + seconds - now
        if -LATE < ahead < LONGEST_WAIT:
            if ahead > 0:
                self._clock.sleep(ahead, self._stopped)
        else:
            self._start = now - seconds
        return not self._stopped.is_set()
