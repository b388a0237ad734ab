"""What a stream is: something that hands out steps, once, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from leocod.types import Labels, Step


class Steps(Protocol):
    """Anything that hands out steps, and knows the truth about the last one."""

    truth: Mapping[int, Labels]
    """Frame id -> true labels of the step handed out last. For the benchmark's side only."""
    bytes: int
    """Frames and labels that it keeps: nothing in a single pass, everything labelled for offline training."""

    @property
    def skipped(self) -> Mapping[int, str]:
        """Frame id -> what is wrong with it, of frames left out of the step handed out last: they cannot be read."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What looked wrong with the source before the step handed out last."""
        ...

    def __len__(self) -> int: ...

    def steps(self, start: int = 0) -> Iterator[Step]:
        """Every step from `start` on, once, in order."""
        ...
