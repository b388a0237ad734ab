"""Runs a source in a thread: whoever is slow gets fewer frames, and a source that is lost is opened again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from random import Random
from threading import Event, Lock, Thread
from typing import Literal

from leocod.errors import LeocodError, SourceAway
from leocod.live.sources.base import Captured, Source
from leocod.live.sources.clock import REAL, Clock

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""Seconds between two attempts to open a source again: each pause is twice as long as the one before."""

JITTER = 0.1
"""Share by which a pause may be shorter or longer, so that many who lost a camera do not all come back at once."""

STEADY = 10.0
"""Seconds that a source must run before the next loss counts as the first one."""

RECENT = 5.0
"""Seconds over which the rate is measured, with two frames at least."""

MOST_RECENT = 1000
"""Frames over which it is measured at most."""

PATIENCE = 5.0
"""Seconds that `stop` waits for the thread at most. It takes a small part of that."""

STOPPED = "It was stopped."

Status = Literal["running", "reconnecting", "ended"]


@dataclass(frozen=True)
class GrabberState:
    """How it goes."""

    status: Status
    message: str | None
    """What is wrong, or over, for a person."""
    fps: float
    """Frames a second, measured."""
    seen: int
    """Frames that the source has sent."""
    dropped: int
    """Frames that nobody had room for."""
    reconnects: int
    """How often the source was lost and found again."""


class Grabber:
    """Reads a source as fast as it sends, in a thread of its own, and hands every frame to `offer`.

    `open` opens the source; it is called again when the source is lost, and should pass on the event that stops it.
    `offer` returns at once, and says whether it took the frame. The newest frame is in `newest`, taken or not.
    """

    def __init__(
        self,
        open: Callable[[Event], Source],
        offer: Callable[[Captured], bool],
        *,
        clock: Clock = REAL,
        random: Random | None = None,
    ) -> None:
        self.newest: Captured | None = None
        self._open = open
        self._offer = offer
        self._clock = clock
        self._random = random or Random()
        self._stopped = Event()
        self._lock = Lock()
        self._status: Status = "running"
        self._message: str | None = None
        self._seen = self._dropped = self._reconnects = 0
        self._times: deque[float] = deque(maxlen=MOST_RECENT)
        self._thread: Thread | None = None

    def start(self) -> Source:
        """Open the source, and read it from now on. A source that cannot be opened is an error here and now."""
        source = self._open(self._stopped)
        self._thread = Thread(target=self._run, args=(source,), name="leocod-grabber", daemon=True)
        self._thread.start()
        return source

    def stop(self) -> None:
        """Let go of the source, whatever it is waiting for."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    @property
    def state(self) -> GrabberState:
        """How it goes at this moment."""
        with self._lock:
            return GrabberState(
                self._status, self._message, self._measure_rate(), self._seen, self._dropped, self._reconnects
            )

    def _measure_rate(self) -> float:
        if len(self._times) < 2 or self._status != "running":
            return 0.0
        gaps, first, last = len(self._times) - 1, self._times[0], self._times[-1]
        # Up to now, but for the gap that is usual: it falls when frames stay away.
        until = max(last, self._clock.now() - (last - first) / gaps)
        # The first frames after opening come in a heap.
        return gaps / max(1.0, until - first)

    def _run(self, source: Source | None) -> None:
        pauses = grow_pauses(self._random)
        try:
            while source is not None:
                began = self._clock.now()
                message, lost = self._read(source)
                if not lost:
                    self._set("ended", message)
                    return
                if self._clock.now() - began >= STEADY:
                    pauses = grow_pauses(self._random)
                source = self._reopen(message, pauses)
            self._set("ended", STOPPED)
        except BaseException:
            self._set("ended", "leocod has made a mistake; its log says more.")
            raise

    def _read(self, source: Source) -> tuple[str, bool]:
        """Hand on frames until there are no more; say why, and whether the source may come back."""
        lost = source.endless
        try:
            for captured in source:
                self._take(captured)
                if self._stopped.is_set():
                    break
            message = f"{source.describe()}: {'the stream broke off' if lost else 'it is over'}."
        except LeocodError as error:
            message, lost = str(error), lost or isinstance(error, SourceAway)
        finally:
            source.close()
        if self._stopped.is_set():
            return STOPPED, False
        return message, lost

    def _take(self, captured: Captured) -> None:
        numbered = captured._replace(number=self._seen)
        taken = self._offer(numbered)
        self.newest = numbered
        now = self._clock.now()
        with self._lock:
            self._seen += 1
            self._dropped += not taken
            self._times.append(now)
            while len(self._times) > 2 and now - self._times[0] > RECENT:
                self._times.popleft()

    def _reopen(self, message: str, pauses: Iterator[float]) -> Source | None:
        """Try until the source is back; None when somebody wants to stop."""
        while True:
            pause = next(pauses)
            self._set("reconnecting", f"{message} Next attempt in {pause:.1f} s.")
            self._clock.sleep(pause, self._stopped)
            if self._stopped.is_set():
                return None
            try:
                source = self._open(self._stopped)
            except LeocodError as error:
                message = str(error)
                continue
            with self._lock:
                self._reconnects += 1
                self._times.clear()
            self._set("running", None)
            return source

    def _set(self, status: Status, message: str | None) -> None:
        with self._lock:
            self._status, self._message = status, message


def grow_pauses(random: Random) -> Iterator[float]:
    """Yield the pauses between attempts, in seconds, each twice as long as the one before, up to a limit."""
    for attempt in count():
        usual = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(attempt, 30))
        yield usual * random.uniform(1 - JITTER, 1 + JITTER)
