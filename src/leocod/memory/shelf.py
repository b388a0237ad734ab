"""What the memory is made of: entries, which stand on shelves."""

from __future__ import annotations

from dataclasses import dataclass, field

from leocod.types import Frame, LabelledFrame, Labels


@dataclass(eq=False)
class MemoryEntry:
    """A labelled frame that is remembered, or that asks to be."""

    number: int
    """Entries are numbered as they are offered: the lower number came first."""
    frame: Frame
    labels: Labels
    shelves: list[int] = field(default_factory=list)
    """Keys of the shelves that it stands on. A newcomer stands on none yet."""

    @property
    def classes(self) -> list[int]:
        """Every class that the labels name, once, in ascending order."""
        return sorted(set(self.labels.classes.tolist()))

    @property
    def pair(self) -> LabelledFrame:
        return self.frame, self.labels


@dataclass(eq=False)
class Shelf:
    """Entries that compete for the same places."""

    entries: list[MemoryEntry] = field(default_factory=list)
    offered: int = 0
    """How many frames were offered to the shelf so far, the newcomer included."""
    key: int = -1
    """In a balanced store, the number of the class that the shelf is for."""
