"""The replay memory: a few labelled frames of every class. It holds the pixels: a camera has no files to go back to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, Self

import numpy as np
import torch

from leocod.types import Frame, LabelledFrame, Labels, LossWeights

Store = Literal["balanced", "random"]
Replacement = Literal["reservoir", "released", "first"]

ALL = -1
"""The one shelf of a memory that does not tell classes apart."""


class ReplayMemory:
    """Shelves of a few places each. `balanced`: a shelf for every class. `random`: one for all, of the same total size.

    An entry is a frame with labels. It may stand on the shelves of several classes and is held once; so are the pixels
    of a frame that has several entries. Neither adding nor drawing looks at more than it handles.
    """

    def __init__(
        self,
        *,
        per_class: int = 5,
        store: Store = "balanced",
        replacement: Replacement = "reservoir",
        total: int | None = None,
        seed: int,
    ) -> None:
        """`total`: places of a random store. Not as many as classes seen: a new class would bring places of its own."""
        if store == "random" and total is None:
            raise ValueError("A random store needs its total size.")
        self.per_class = per_class
        self.total = total or 0
        self.store = store
        self.replacement = replacement
        self.random = np.random.default_rng(seed)
        self.shelves: dict[int, list[int]] = {}
        """Class -> numbers of the entries that stand for it."""
        self.seen: dict[int, int] = {}
        """Class -> how many frames of it were offered."""
        self.bytes = 0
        """Pixels and labels held."""
        self._order: list[int] = []
        """The shelves by number, so that one can be drawn without listing them."""
        self._entries: dict[int, LabelledFrame] = {}
        self._frames: dict[int, Frame] = {}
        self._places: Counter[int] = Counter()
        """Entry -> how many places it takes."""
        self._sharing: Counter[int] = Counter()
        """Frame id -> how many entries show it."""
        self._offered = 0
        """Frames offered so far, and so the number of the next entry."""

    def __len__(self) -> int:
        """Frames held."""
        return len(self._frames)

    @property
    def frames(self) -> list[LabelledFrame]:
        """Every entry held, oldest first."""
        return list(self._entries.values())

    def count(self, name: int) -> int:
        """Entries kept for a class; in a random store, those that happen to show it."""
        if self.store == "balanced":
            return len(self.shelves.get(name, ()))
        return sum(name in labels.classes for _, labels in self._entries.values())

    def add(self, pairs: Sequence[LabelledFrame]) -> None:
        """Offer labelled frames. Each shelf decides for itself whether a frame takes one of its places."""
        for frame, labels in pairs:
            if labels.source != "human":
                raise ValueError(f"Frame {frame.id} has {labels.source} labels: only a person's are remembered.")
            entry, self._offered = self._offered, self._offered + 1
            classes = np.unique(labels.classes).tolist()
            for name in classes:
                self.seen[name] = self.seen.get(name, 0) + 1
            for shelf in classes if self.store == "balanced" else (ALL,):
                self._offer(shelf, entry, frame, labels)

    def sample(self, count: int, *, per_class: int) -> list[LabelledFrame]:
        """Up to `per_class` entries of each class, `count` of these at random; with fewer, they repeat."""
        most = per_class if self.store == "balanced" else count
        drawn = self._drawn(most, count)
        return [self._entries[drawn[number % len(drawn)]] for number in range(count)] if drawn else []

    def one_of_each(self) -> list[LabelledFrame]:
        """One entry, by chance, for every class; from a random store as many, of whatever class."""
        if self.store == "random":
            return self.sample(len(self.seen), per_class=1)
        return [self._entries[entries[int(self.random.integers(len(entries)))]] for entries in self.shelves.values()]

    def _drawn(self, most: int, count: int) -> list[int]:
        """Different entries, up to `count` in all and up to `most` from a shelf.

        Every shelf has `most` turns. All turns are shuffled, but only as far as they are needed.
        """
        drawn: dict[int, None] = {}
        decks: dict[int, _Deck] = {}
        turns = _Deck(len(self._order) * most)
        while turns and len(drawn) < count:
            shelf = self._order[turns.draw(self.random) % len(self._order)]
            entries = self.shelves[shelf]
            if deck := decks.setdefault(shelf, _Deck(len(entries))):
                drawn[entries[deck.draw(self.random)]] = None
        return list(drawn)

    def _offer(self, shelf: int, entry: int, frame: Frame, labels: Labels) -> None:
        if shelf not in self.shelves:
            self.shelves[shelf] = []
            self._order.append(shelf)
        entries = self.shelves[shelf]
        if len(entries) < self._size(shelf):
            entries.append(entry)
            self._hold(entry, frame, labels)
        elif (place := self._place_for_newcomer(shelf)) is not None:
            leaving, entries[place] = entries[place], entry
            self._hold(entry, frame, labels)
            self._release(leaving)

    def _size(self, shelf: int) -> int:
        return self.total if shelf == ALL else self.per_class

    def _place_for_newcomer(self, shelf: int) -> int | None:
        size = len(self.shelves[shelf])
        if self.replacement == "first":
            return None
        offered = self._offered if shelf == ALL else self.seen[shelf]
        choices = offered if self.replacement == "reservoir" else size + 1
        place = int(self.random.integers(choices))
        return place if place < size else None

    def _hold(self, entry: int, frame: Frame, labels: Labels) -> None:
        if entry not in self._entries:
            if frame.id not in self._frames:
                # A view would keep the whole step's pixels alive.
                held = Frame(frame.id, frame.video, frame.index, frame.size, frame.image().copy())
                self._frames[frame.id] = held
                self.bytes += held.bytes
            self._entries[entry] = (self._frames[frame.id], labels)
            self._sharing[frame.id] += 1
            self.bytes += labels.bytes
        self._places[entry] += 1

    def _release(self, entry: int) -> None:
        self._places[entry] -= 1
        if self._places[entry]:
            return
        frame, labels = self._entries.pop(entry)
        del self._places[entry]
        self.bytes -= labels.bytes
        self._sharing[frame.id] -= 1
        if not self._sharing[frame.id]:
            del self._sharing[frame.id], self._frames[frame.id]
            self.bytes -= frame.bytes

    def state_dict(self) -> dict[str, Any]:
        """Everything, pixels included: tensors and plain values, so that a checkpoint loads without running code."""
        return {
            "shelves": {shelf: list(entries) for shelf, entries in self.shelves.items()},
            "seen": dict(self.seen),
            "offered": self._offered,
            "random": self.random.bit_generator.state,
            "frames": [_packed_frame(frame) for frame in self._frames.values()],
            "entries": {entry: _packed_labels(frame, labels) for entry, (frame, labels) in self._entries.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> Self:
        """Continue from a state."""
        self.shelves = {shelf: list(entries) for shelf, entries in state["shelves"].items()}
        self._order = list(self.shelves)
        self.seen, self._offered = dict(state["seen"]), state["offered"]
        self.random.bit_generator.state = state["random"]
        self._frames = {packed["id"]: _frame(packed) for packed in state["frames"]}
        self._entries = {
            entry: (self._frames[packed["frame"]], _labels(packed)) for entry, packed in state["entries"].items()
        }
        self._places = Counter(entry for entries in self.shelves.values() for entry in entries)
        self._sharing = Counter(frame.id for frame, _ in self._entries.values())
        self.bytes = sum(frame.bytes for frame in self._frames.values())
        self.bytes += sum(labels.bytes for _, labels in self._entries.values())
        return self


class _Deck:
    """The numbers below a size in random order, drawn one by one: a shuffle that goes only as far as it is asked."""

    def __init__(self, size: int) -> None:
        self.left = size
        self._moved: dict[int, int] = {}

    def __bool__(self) -> bool:
        return self.left > 0

    def draw(self, random: np.random.Generator) -> int:
        self.left -= 1
        place = int(random.integers(self.left + 1))
        number = self._moved.get(place, place)
        self._moved[place] = self._moved.pop(self.left, self.left)
        return number


def _packed_frame(frame: Frame) -> dict[str, Any]:
    return {"id": frame.id, "video": frame.video, "index": frame.index, "pixels": torch.tensor(frame.image())}


def _frame(packed: Mapping[str, Any]) -> Frame:
    pixels = packed["pixels"].numpy()
    return Frame(packed["id"], packed["video"], packed["index"], pixels.shape[:2], pixels)


def _packed_labels(frame: Frame, labels: Labels) -> dict[str, Any]:
    return {
        "frame": frame.id,
        "boxes": torch.tensor(labels.boxes),
        "classes": torch.tensor(labels.classes),
        "unsure": torch.tensor(labels.unsure),
        "weights": asdict(labels.weights),
        "logits": None if labels.logits is None else torch.tensor(labels.logits),
    }


def _labels(packed: Mapping[str, Any]) -> Labels:
    logits = packed["logits"]
    return Labels(
        packed["boxes"].numpy(),
        packed["classes"].numpy(),
        weights=LossWeights(**packed["weights"]),
        unsure=packed["unsure"].numpy(),
        logits=None if logits is None else logits.numpy(),
    )
