"""`leocod` on a machine whose wall clock jumps by days, back and forth, at every third look.

The wall clock only: time.time, time.time_ns and datetime.now. The monotonic clocks of a machine do not jump.
"""

from __future__ import annotations

import datetime
import itertools
import time
from typing import Any

JUMPS = (0, 86_400 * 3, -86_400 * 40, 86_400 * 900, -86_400 * 2)
"""Seconds from the right time, one after the other."""


def jump() -> None:
    """Let the clock of this process jump from now on."""
    looks = itertools.count()
    right, right_ns = time.time, time.time_ns

    def jumped() -> int:
        return JUMPS[next(looks) // 3 % len(JUMPS)]

    class Jumping(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.datetime.fromtimestamp(time.time(), tz)

    time.time = lambda: right() + jumped()
    time.time_ns = lambda: right_ns() + jumped() * 10**9
    datetime.datetime = Jumping  # type: ignore[misc]


if __name__ == "__main__":
    jump()
    from leocod.cli.main import app

    app()
