"""What the memory is made of: entries, which stand on shelves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

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

    def rename_class(self, number: int, into: int) -> None:
        """Let its objects of one class be of another."""
        classes = self.labels.classes
        self.labels = replace(self.labels, classes=np.where(classes == number, into, classes))


@dataclass(eq=False)
class Shelf:
    """Entries that compete for the same places."""

    entries: list[MemoryEntry] = field(default_factory=list)
    offered: int = 0
    """How many frames were offered to the shelf so far, the newcomer included."""
    key: int = -1
    """In a balanced store, the number of the class that the shelf is for."""

    def without(self, frames: Collection[int]) -> Shelf:
        """A shelf with the entries that show none of these frames; with no frame, the shelf itself."""
        return replace(self, entries=[one for one in self.entries if one.frame.id not in frames]) if frames else self
