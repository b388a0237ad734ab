"""The replay memory: a few labelled frames of every class. It holds the pixels: a camera has no files to go back to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from leocod.errors import InvalidConfig, InvalidLabels
from leocod.memory.budget import may_grow, select_expendable
from leocod.memory.deck import Deck
from leocod.memory.encoding import Encoding, Raw, count_bytes, encode_frame
from leocod.memory.replacements.base import REPLACEMENTS, MemoryReplacement
from leocod.memory.saving import pack_frame, pack_labels, unpack_frame, unpack_labels
from leocod.memory.shelf import MemoryEntry, Shelf
from leocod.memory.stores.base import STORES, MemoryStore
from leocod.text import one_line
from leocod.types import Frame, LabelledFrame


class ReplayMemory:
    """Shelves of a few places each. The store sorts frames onto them; the replacement says who stays on a full one.

    An entry is a frame with labels. It may stand on several shelves and is held once; so are the pixels of a frame that
    has several entries. Without a budget in bytes, neither adding nor drawing looks at more than it handles.
    """

    def __init__(
        self,
        *,
        classes: int,
        per_class: int | None = 5,
        max_bytes: int | None = None,
        store: str | MemoryStore = "balanced",
        replacement: str | MemoryReplacement = "reservoir",
        encoding: Encoding | None = None,
        seed: int,
    ) -> None:
        """`classes`: how many the learner knows. It may be set again when there are more.

        `per_class` limits frames and `max_bytes` the bytes of pixels and labels as stored; one of them may be None.
        """
        if per_class is None and max_bytes is None:
            raise ValueError("A memory needs a limit: per_class, max_bytes or both.")
        self.classes = classes
        self.per_class = per_class
        self.max_bytes = max_bytes
        self.store = STORES.find(store)() if isinstance(store, str) else store
        self.replacement = REPLACEMENTS.find(replacement)() if isinstance(replacement, str) else replacement
        self.encoding = encoding or Raw()
        self.random = np.random.default_rng(seed)
        self.shelves: dict[int, Shelf] = {}
        self.seen: dict[int, int] = {}
        """Class -> how many frames of it were offered."""
        self.bytes = 0
        """Pixels and labels held, as they are stored."""
        self._keys: list[int] = []
        """Of the shelves, in a list, so that one can be drawn without going through them."""
        self._entries: dict[int, MemoryEntry] = {}
        self._frames: dict[int, Frame] = {}
        self._sharing: Counter[int] = Counter()
        """Frame id -> how many entries show it."""
        self._offered = 0
        """Frames offered so far, and so the number of the next entry."""
        self.pinned: set[int] = set()
        """Ids of frames that stay, whatever comes."""

    def __len__(self) -> int:
        """Frames held."""
        return len(self._frames)

    @property
    def frames(self) -> list[LabelledFrame]:
        """Every entry held, oldest first."""
        return [entry.pair for entry in self._entries.values()]

    def count(self, number: int) -> int:
        """Entries kept for a class; in a random store, those that happen to show it."""
        return len(self.store.select_class(number, self.shelves))

    def add(self, pairs: Sequence[LabelledFrame]) -> None:
        """Offer labelled frames. Each shelf decides for itself whether a frame takes one of its places."""
        for frame, labels in pairs:
            if labels.source != "human":
                raise InvalidLabels(
                    f"Frame {frame.id} has {labels.source} labels: only a person's are remembered. "
                    'Add step.labelled("human") to the memory, and not step.labelled().'
                )
            self._offer(MemoryEntry(self._offered, frame, labels))

    def sample(self, count: int, *, per_class: int) -> list[LabelledFrame]:
        """Up to `per_class` entries of each class, `count` of these at random; with fewer, they repeat."""
        most = self.store.limit_draw(per_class)
        drawn = self._draw(count if most is None else most, count)
        return [drawn[number % len(drawn)].pair for number in range(count)] if drawn else []

    def one_of_each(self) -> list[LabelledFrame]:
        """One entry, by chance, for every class; where shelves do not stand for classes as many, of whatever class."""
        if self.store.limit_draw(1) is None:
            return self.sample(len(self.seen), per_class=1)
        filled = [shelf.entries for shelf in self.shelves.values() if shelf.entries]
        return [entries[int(self.random.integers(len(entries)))].pair for entries in filled]

    def _draw(self, most: int, count: int) -> list[MemoryEntry]:
        """Different entries, up to `count` in all and up to `most` from a shelf.

        Every shelf has `most` turns. All turns are shuffled, but only as far as they are needed.
        """
        drawn: dict[int, MemoryEntry] = {}
        decks: dict[int, Deck] = {}
        turns = Deck(len(self._keys) * most)
        while turns and len(drawn) < count:
            key = self._keys[turns.draw(self.random) % len(self._keys)]
            entries = self.shelves[key].entries
            if deck := decks.setdefault(key, Deck(len(entries))):
                entry = entries[deck.draw(self.random)]
                drawn[entry.number] = entry
        return list(drawn.values())

    def _offer(self, newcomer: MemoryEntry) -> None:
        keys = self.store.choose_shelves(newcomer)
        if self.max_bytes is not None and keys:
            newcomer.frame = self._find_or_encode(newcomer.frame)
            self._refuse_larger_than_budget(newcomer, self.max_bytes)
        self._offered += 1
        for number in newcomer.classes:
            self.seen[number] = self.seen.get(number, 0) + 1
        for key in keys:
            shelf = self._open_shelf(key)
            shelf.offered += 1
            if not self._is_full(key, newcomer):
                shelf.entries.append(newcomer)
                self._hold(newcomer, key)
            elif (place := self._choose_place(shelf, newcomer)) is not None:
                leaving, shelf.entries[place] = shelf.entries[place], newcomer
                self._hold(newcomer, key)
                self._release(leaving, key)
        while self.max_bytes is not None and self.bytes > self.max_bytes:
            expendable = select_expendable(self.shelves, newcomer, self.pinned)
            self._drop(self.replacement.choose_leaving(expendable, self.random))

    def _choose_place(self, shelf: Shelf, newcomer: MemoryEntry) -> int | None:
        """The place that the newcomer takes; None: it stays outside. Pinned frames keep their places."""
        free = shelf.without(self.pinned)
        place = self.replacement.choose_place(free, newcomer, self.random)
        return place if place is None or free is shelf else shelf.entries.index(free.entries[place])

    def remove(self, frame: int) -> bool:
        """Take a frame out, with all of its entries. Returns whether it was there."""
        entries = [entry for entry in self._entries.values() if entry.frame.id == frame]
        for entry in entries:
            self._drop(entry)
        self.pinned.discard(frame)
        return bool(entries)

    def set_apart(self) -> None:
        """Give every frame held a negative id: a new stream counts its own frames from 0."""
        frames = {old: replace(frame, id=-1 - place) for place, (old, frame) in enumerate(self._frames.items())}
        for entry in self._entries.values():
            entry.frame = frames[entry.frame.id]
        self.pinned = {frames[old].id for old in self.pinned if old in frames}
        self._sharing = Counter({frames[old].id: count for old, count in self._sharing.items()})
        self._frames = {frame.id: frame for frame in frames.values()}

    def merge_classes(self, number: int, into: int) -> None:
        """Let all that is remembered of one class be of another. Entries that a full shelf cannot take are dropped.

        For a pinned one, the newest that is not pinned makes room.
        """
        shown = [entry for entry in self._entries.values() if number in entry.classes]
        for entry in shown:
            entry.rename_class(number, into)
        self.seen[into] = self.seen.get(into, 0) + self.seen.pop(number, 0)
        for entry in shown:
            for key in [key for key in self.store.choose_shelves(entry) if key not in entry.shelves]:
                shelf = self._open_shelf(key)
                stays, full = entry.frame.id in self.pinned, self._is_full(key, entry)
                if full and stays:
                    self._make_room(shelf)
                if stays or not full:
                    shelf.entries.append(entry)
                    self._hold(entry, key)
            for key in [key for key in entry.shelves if key not in self.store.choose_shelves(entry)]:
                self.shelves[key].entries.remove(entry)
                self._release(entry, key)
        if into in self.shelves and number in self.shelves and not self.shelves[number].entries:
            offered, self.shelves[number].offered = self.shelves[number].offered, 0
            self.shelves[into].offered += offered

    def _make_room(self, shelf: Shelf) -> None:
        """Take the newest entry off a shelf; none where all are pinned."""
        # By number and not by place: a newcomer takes the place of whom it replaces.
        if newest := max(shelf.without(self.pinned).entries, key=lambda entry: entry.number, default=None):
            shelf.entries.remove(newest)
            self._release(newest, shelf.key)

    def _open_shelf(self, key: int) -> Shelf:
        if key not in self.shelves:
            self.shelves[key] = Shelf(key=key)
            self._keys.append(key)
        return self.shelves[key]

    def _is_full(self, key: int, newcomer: MemoryEntry) -> bool:
        shelf = self.shelves[key]
        if self.per_class is not None:
            places = self.store.count_places(key, per_class=self.per_class, classes=self.classes)
            if len(shelf.entries) >= places:
                return True
        return not (self._fits(newcomer) or may_grow(shelf, self.shelves))

    def _fits(self, newcomer: MemoryEntry) -> bool:
        """Whether the budget in bytes has room. An entry that another shelf has taken in needs no more of it."""
        if self.max_bytes is None or newcomer.shelves:
            return True
        pixels = 0 if newcomer.frame.id in self._frames else count_bytes(newcomer.frame)
        return self.bytes + pixels + newcomer.labels.bytes <= self.max_bytes

    def _refuse_larger_than_budget(self, newcomer: MemoryEntry, max_bytes: int) -> None:
        needed = count_bytes(newcomer.frame) + newcomer.labels.bytes
        if needed > max_bytes:
            raise InvalidConfig(
                f"Frame {newcomer.frame.id} of {one_line(newcomer.frame.video)} takes {needed} bytes in the memory, "
                f"but strategy.memory_bytes is {max_bytes}. Raise strategy.memory_bytes, or {self.encoding.cure}."
            )

    def _find_or_encode(self, frame: Frame) -> Frame:
        """The frame as it is stored: the one that is held, if it is."""
        return self._frames.get(frame.id) or encode_frame(frame, self.encoding)

    def _hold(self, entry: MemoryEntry, key: int) -> None:
        if not entry.shelves:
            if self.max_bytes is None:
                entry.frame = self._find_or_encode(entry.frame)
            if entry.frame.id not in self._frames:
                self._frames[entry.frame.id] = entry.frame
                self.bytes += count_bytes(entry.frame)
            self._entries[entry.number] = entry
            self._sharing[entry.frame.id] += 1
            self.bytes += entry.labels.bytes
        entry.shelves.append(key)

    def _drop(self, entry: MemoryEntry) -> None:
        """Take an entry off every shelf."""
        for key in list(entry.shelves):
            self.shelves[key].entries.remove(entry)
            self._release(entry, key)

    def _release(self, entry: MemoryEntry, key: int) -> None:
        entry.shelves.remove(key)
        if entry.shelves:
            return
        del self._entries[entry.number]
        self.bytes -= entry.labels.bytes
        self._sharing[entry.frame.id] -= 1
        if not self._sharing[entry.frame.id]:
            del self._sharing[entry.frame.id], self._frames[entry.frame.id]
            self.bytes -= count_bytes(entry.frame)

    def state_dict(self) -> dict[str, Any]:
        """Everything, pixels included, as tensors and plain values."""
        return {
            "shelves": {key: [entry.number for entry in shelf.entries] for key, shelf in self.shelves.items()},
            "offered_by_shelf": {key: shelf.offered for key, shelf in self.shelves.items()},
            "seen": dict(self.seen),
            "offered": self._offered,
            "random": self.random.bit_generator.state,
            "pinned": sorted(self.pinned),
            "frames": [pack_frame(frame) for frame in self._frames.values()],
            "entries": {number: pack_labels(*entry.pair) for number, entry in self._entries.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> Self:
        """Continue from a state."""
        self.seen, self._offered = dict(state["seen"]), state["offered"]
        self.random.bit_generator.state = state["random"]
        # Older checkpoints pin nothing.
        self.pinned = set(state.get("pinned", ()))
        self._frames = {packed["id"]: unpack_frame(packed) for packed in state["frames"]}
        self._entries = {
            number: MemoryEntry(number, self._frames[packed["frame"]], unpack_labels(packed))
            for number, packed in state["entries"].items()
        }
        # Older checkpoints do not count by shelf: a shelf was that of a class, or the only one.
        offered = state.get("offered_by_shelf") or {key: self.seen.get(key, self._offered) for key in state["shelves"]}
        self.shelves = {
            key: Shelf([self._entries[number] for number in numbers], offered[key], key)
            for key, numbers in state["shelves"].items()
        }
        self._keys = list(self.shelves)
        for key, shelf in self.shelves.items():
            for entry in shelf.entries:
                entry.shelves.append(key)
        self._sharing = Counter(entry.frame.id for entry in self._entries.values())
        self.bytes = sum(count_bytes(frame) for frame in self._frames.values())
        self.bytes += sum(entry.labels.bytes for entry in self._entries.values())
        return self
