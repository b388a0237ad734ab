"""The checkpoints of a live run: the newest few, each of which knows where in the journal it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from leocod.files.atomic import remove
from leocod.files.checkpoint import ENDING, Damaged, read_checkpoint, write_checkpoint
from leocod.files.run_directory import format_step, list_by_step
from leocod.live.journal import Entry


class Saved(NamedTuple):
    """What a checkpoint is of."""

    step: int
    """The last step that it knows; -1: none."""
    position: int
    """Where in the journal it is: the number of the next entry."""


class Checkpoints:
    """Writes them, removes the oldest, and finds the one to go back to."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder = folder
        self.keep = keep
        self.saved: dict[Path, Saved] = {}
        """Those that can be gone back to."""

    def find(self, warn: Callable[[str], None]) -> None:
        """See which there are; `warn` is told of those that are damaged."""
        for path in self.list():
            try:
                state = read_checkpoint(path)
                self.saved[path] = Saved(state["step"], int(state["live"]["position"]))
            except Damaged as error:
                warn(f"{error} It is passed over.")

    def list(self) -> list[Path]:
        """Every file, newest first."""
        return list_by_step(self.folder, ENDING)[::-1]

    @property
    def oldest_position(self) -> int:
        """Where in the journal the oldest one is: what comes after it may have to be performed again."""
        return min((saved.position for saved in self.saved.values()), default=0)

    def write(self, state: Mapping[str, Any], *, alone: bool) -> Path:
        """Write one, and remove the oldest, or, where it is to be alone, all others."""
        saved = Saved(state["step"], state["live"]["position"])
        path = self.folder / f"{format_step(max(saved.step, 0))}{ENDING}"
        write_checkpoint(path, state)
        self.saved[path] = saved
        for old in self.list()[1 if alone else self.keep :]:
            self.remove(old)
        return path

    def remove(self, path: Path) -> None:
        """Remove one."""
        remove(path)
        self.saved.pop(path, None)

    def read_newest(self, before: float) -> dict[str, Any] | None:
        """The newest one that knows nothing of a step; None: there is none any more."""
        for path, saved in sorted(self.saved.items(), key=lambda pair: -pair[1].position):
            if saved.step < before:
                # It may have been damaged since.
                with suppress(Damaged):
                    return read_checkpoint(path)
        return None

    def remove_from(self, step: int) -> None:
        """Remove those that know a step, and those that nobody can read."""
        for path in self.list():
            if path not in self.saved or self.saved[path].step >= step:
                self.remove(path)

    def remove_stale(self, corrections: Iterable[tuple[int, Entry]]) -> None:
        """Remove those that know a label which was taken back: the process ended before it could do that."""
        undone = [(number, entry["step"]) for number, entry in corrections if entry.get("goes_back")]
        for path, saved in tuple(self.saved.items()):
            if any(number >= saved.position and step <= saved.step for number, step in undone):
                self.remove(path)
