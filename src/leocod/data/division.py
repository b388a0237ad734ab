"""How a run divides frames into those that it learns from and those that test it, and whether these are enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from leocod.readers.recording import TEST_EVERY, Problem, Recording, divide, is_sparse
from leocod.readers.test_frames import find_weaknesses
from leocod.text import pluralize
from leocod.types import Labels

STEP = 16
"""Frames in a step, unless the config of a run says otherwise."""


class Division:
    """The frames of a recording in steps and test frames, as a run divides them by default."""

    def __init__(self, recording: Recording, *, is_own: bool) -> None:
        """`is_own`: it is one's own video, which is divided by its labels where these are sparse."""
        self.classes, self.entries, self.is_own = recording.classes, recording.entries, is_own
        labelled = sum(entry.labels is not None for entry in self.entries)
        self._is_sparse = is_own and labelled > 0 and is_sparse(labelled, len(self.entries))
        self._was_divided = any(entry.step >= 0 for entry in self.entries)
        if not self._was_divided:
            test_every = TEST_EVERY if is_own else 0
            self.entries = divide(self.entries, frames_per_step=STEP, hold_out=1, test_every=test_every)

    @property
    def test(self) -> list[Labels]:
        """The labels of the frames that can test."""
        used = (entry for entry in self.entries if entry.held_out and not entry.broken)
        return [entry.labels for entry in used if entry.labels is not None]

    def describe(self) -> str:
        """How many labelled frames are used for what, and by which rule; empty where nobody has labelled one."""
        learnt = sum(entry.labels is not None and not entry.held_out for entry in self.entries)
        if not learnt and not self.test:
            return ""
        return f"A run learns from {pluralize(learnt, 'labelled frame')} and tests on {len(self.test)}{self._rule}."

    def find_problems(self, path: Path) -> Iterator[Problem]:
        """Yield what is wrong with the test frames. `path` is where the labels are."""
        if not self.test:
            what = f"no labelled frame is held out for testing{self._rule}: a run would learn, but not be evaluated."
            yield Problem(path, "", what, breaks=False, kind="no test frame")
        for kind, what in find_weaknesses(self.test, self.classes) if self.is_own else ():
            yield Problem(path, "", what, breaks=False, kind=kind)

    @property
    def _rule(self) -> str:
        if self._was_divided:
            return ""
        if self._is_sparse:
            return f" (labels are sparse: of each {TEST_EVERY} labelled frames in a row the middle one is held out)"
        return f" ({STEP} frames are a step, and the next one is held out)"
