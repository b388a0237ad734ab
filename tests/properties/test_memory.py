"""The replay memory against a plain model of it, whatever is offered, drawn, saved and loaded, in any order."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import arbitrary
import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from leocod.memory.encoding import JPEG, Encoding, Raw, count_bytes, encode_frame
from leocod.memory.replacements.base import REPLACEMENTS
from leocod.memory.replay import ReplayMemory
from leocod.memory.stores.random import ALL
from leocod.types import Frame, LabelledFrame, Labels, LossWeights

Offer = tuple[int, list[int], bool]
"""The frame, its classes, and whether logits come with them."""

offer = some.tuples(
    some.integers(0, 7), some.sampled_from([[0], [1], [0, 1], [2, 0], [1, 1], [0, 2, 0, 1], []]), some.booleans()
)


LARGEST_LABELS = 4 * (16 + 8 + 5 * 4) + 16
"""Bytes of the labels of an offer, at most."""


@cache
def stored(number: int, encoding: Encoding) -> Frame:
    """A frame as a memory should store it."""
    return encode_frame(arbitrary.frame(number), encoding)


def tagged(number: int, offer: Offer) -> LabelledFrame:
    """What is offered: its number can be read off the labels."""
    frame, classes, has_logits = offer
    boxes = [[place, 0, place + 1, 1] for place in range(len(classes))]
    return arbitrary.frame(frame), Labels(
        arbitrary.array(boxes),
        np.array(classes, np.int64),
        weights=LossWeights(background=number % 2),
        unsure=arbitrary.array([[number, 0, number + 1, 1]]),
        logits=np.full((len(classes), 5), number, np.float32) if has_logits else None,
    )


def tag(labels: Labels) -> int:
    return int(labels.unsure[0, 0])


def tags(pairs: list[LabelledFrame]) -> list[int]:
    return [tag(labels) for _, labels in pairs]


def numbers_by_shelf(memory: ReplayMemory) -> dict[int, list[int]]:
    return {key: [entry.number for entry in shelf.entries] for key, shelf in memory.shelves.items()}


def saved_and_read(state: Any) -> Any:
    """As a checkpoint does it: through a file that cannot run code."""
    file = io.BytesIO()
    torch.save(state, file)
    return torch.load(io.BytesIO(file.getvalue()), weights_only=True)


class Remembering(RuleBasedStateMachine):
    """A memory, what was ever offered to it, and, once it was saved, a twin that does all it does."""

    @initialize(
        places=some.integers(1, 2),
        store=some.sampled_from(["balanced", "random"]),
        replacement=some.sampled_from(REPLACEMENTS.names()),
        encoding=some.sampled_from([Raw(), JPEG()]),
        frames=some.sampled_from([None, 1, 2.5, 6]),
        seed=arbitrary.seeds,
        first=some.lists(offer, min_size=4, max_size=12),
    )
    def begin(
        self,
        places: int,
        store: str,
        replacement: str,
        encoding: Encoding,
        frames: float | None,
        seed: int,
        first: list[Offer],
    ) -> None:
        """`frames`: the budget in bytes, in frames of the largest size."""
        largest = max(count_bytes(stored(number, encoding)) for number in range(8)) + LARGEST_LABELS
        self.places = {"balanced": places, "random": 2 * places}[store]
        self.options: Any = {
            "classes": 2,
            "per_class": places,
            "store": store,
            "replacement": replacement,
            "encoding": encoding,
            "max_bytes": None if frames is None else int(frames * largest),
        }
        self.memory = ReplayMemory(**self.options, seed=seed)
        self.twin: ReplayMemory | None = None
        self.offered: list[Offer] = []
        # Enough for some to have to go: rules alone seldom come to that.
        self.offer(first)

    @property
    def both(self) -> list[ReplayMemory]:
        return [self.memory, *([self.twin] if self.twin else [])]

    @property
    def shelves(self) -> dict[int, list[int]]:
        return numbers_by_shelf(self.memory)

    @property
    def is_balanced(self) -> bool:
        return self.options["store"] == "balanced"

    def offered_to(self, shelf: int) -> list[int]:
        return [n for n, (_, classes, _) in enumerate(self.offered) if shelf in classes or shelf == ALL]

    @rule(batch=some.lists(offer, min_size=1, max_size=6))
    def offer(self, batch: list[Offer]) -> None:
        pairs = [tagged(len(self.offered) + number, one) for number, one in enumerate(batch)]
        for memory in self.both:
            memory.add(pairs)
        self.offered += batch

    @rule(count=some.integers(0, 12), per_class=some.integers(1, 3))
    def draw(self, count: int, per_class: int) -> None:
        held = self.memory.frames
        drawn = [tags(memory.sample(count, per_class=per_class)) for memory in self.both]

        (numbers,) = {tuple(one) for one in drawn}
        assert len(numbers) == (count if held else 0)
        assert set(numbers) <= set(tags(held))
        times = [numbers.count(one) for one in set(numbers)]
        assert not times or max(times) - min(times) <= 1
        limit = per_class if self.is_balanced else count
        shelves = list(self.shelves.values())
        assert len(times) <= sum(min(limit, len(shelf)) for shelf in shelves)
        if len(times) < count:
            # It repeats only where every shelf has given what it may.
            for shelf in shelves:
                assert len(set(numbers) & set(shelf)) >= min(limit, len(shelf))

    @rule()
    def draw_one_of_each(self) -> None:
        drawn = [tags(memory.one_of_each()) for memory in self.both]

        (numbers,) = {tuple(one) for one in drawn}
        if self.is_balanced:
            filled = [key for key, shelf in self.shelves.items() if shelf]
            for number, key in zip(numbers, filled, strict=True):
                assert number in self.shelves[key]
        else:
            assert len(numbers) == len(self.memory.seen) or not self.memory.frames

    @rule(seed=arbitrary.seeds)
    def save_and_load(self, seed: int) -> None:
        state = saved_and_read(self.memory.state_dict())
        self.twin = ReplayMemory(**self.options, seed=seed).load_state_dict(state)
        self.draw(count=4, per_class=1)

    @rule()
    def go_on_as_the_twin(self) -> None:
        if self.twin:
            self.memory, self.twin = self.twin, None

    @invariant()
    def no_shelf_has_more_or_less_than_its_places(self) -> None:
        for key, entries in self.shelves.items():
            known = self.offered_to(key)
            assert len(entries) == len(set(entries)) <= min(self.places, len(known))
            assert set(entries) <= set(known)
            # A budget in bytes may leave fewer.
            if self.options["max_bytes"] is None:
                assert len(entries) == min(self.places, len(known))
                if self.options["replacement"] == "first":
                    assert entries == known[: self.places]
                if self.options["replacement"] == "fifo":
                    assert sorted(entries) == known[-self.places :]

    @invariant()
    def the_budget_in_bytes_holds(self) -> None:
        budget = self.options["max_bytes"]
        assert budget is None or self.memory.bytes <= budget
        # Whatever the budget, it is never left empty: the largest frame fits.
        assert self.memory.frames or not self.shelves

    @invariant()
    def what_is_held_is_what_stands_on_shelves(self) -> None:
        held = tags(self.memory.frames)
        assert len(held) == len(set(held))
        assert set(held) == {entry for shelf in self.shelves.values() for entry in shelf}
        assert held == sorted(held)

    @invariant()
    def what_is_held_is_as_it_was_offered(self) -> None:
        for frame, labels in self.memory.frames:
            given_frame, given_labels = tagged(tag(labels), self.offered[tag(labels)])
            assert (frame.id, frame.video, frame.index) == (given_frame.id, given_frame.video, given_frame.index)
            np.testing.assert_array_equal(frame.image(), stored(frame.id, self.options["encoding"]).image())
            for part in ("boxes", "classes", "unsure", "logits"):
                np.testing.assert_array_equal(getattr(labels, part), getattr(given_labels, part))
            assert (labels.weights, labels.source) == (given_labels.weights, "human")

    @invariant()
    def pixels_are_held_once_and_bytes_are_their_sum(self) -> None:
        pairs = self.memory.frames
        different = {id(frame): frame for frame, _ in pairs}
        assert len(different) == len({frame.id for frame, _ in pairs}) == len(self.memory)
        pixels = sum(count_bytes(stored(frame.id, self.options["encoding"])) for frame in different.values())
        assert self.memory.bytes == pixels + sum(labels.bytes for _, labels in pairs)

    @invariant()
    def every_class_is_counted(self) -> None:
        names = {name for _, classes, _ in self.offered for name in classes}
        shelves = names if self.is_balanced else {ALL} if self.offered else set()
        assert set(self.memory.shelves) == shelves
        assert self.memory.seen == {name: len(self.offered_to(name)) for name in names}
        for name in names:
            if self.is_balanced:
                assert self.memory.count(name) == len(self.shelves[name])
            else:
                assert self.memory.count(name) == sum(name in labels.classes for _, labels in self.memory.frames)

    @invariant()
    def a_twin_has_the_same(self) -> None:
        if self.twin:
            assert list(numbers_by_shelf(self.twin).items()) == list(self.shelves.items())
            assert tags(self.twin.frames) == tags(self.memory.frames)
            assert (self.twin.bytes, self.twin.seen) == (self.memory.bytes, self.memory.seen)
            assert self.twin.random.bit_generator.state == self.memory.random.bit_generator.state


TestRemembering = Remembering.TestCase
TestRemembering.settings = settings(arbitrary.fewer, stateful_step_count=15)
