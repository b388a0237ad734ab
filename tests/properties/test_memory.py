"""The replay memory against a plain model of it, whatever is offered, drawn, saved and loaded, in any order."""

from __future__ import annotations

import io
from typing import Any

import arbitrary
import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from leocod.memory.replay import ALL, ReplayMemory
from leocod.types import LabelledFrame, Labels, LossWeights

Offer = tuple[int, list[int], bool]
"""The frame, its classes, and whether logits come with them."""

offer = some.tuples(
    some.integers(0, 7), some.sampled_from([[0], [1], [0, 1], [2, 0], [1, 1], [0, 2, 0, 1], []]), some.booleans()
)


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
        replacement=some.sampled_from(["reservoir", "released", "first"]),
        seed=arbitrary.seeds,
        first=some.lists(offer, min_size=4, max_size=12),
    )
    def begin(self, places: int, store: Any, replacement: Any, seed: int, first: list[Offer]) -> None:
        self.options: Any = {"per_class": places, "store": store, "replacement": replacement, "total": 2 * places}
        self.memory = ReplayMemory(**self.options, seed=seed)
        self.twin: ReplayMemory | None = None
        self.offered: list[Offer] = []
        # Enough for some to have to go: rules alone seldom come to that.
        self.offer(first)

    @property
    def both(self) -> list[ReplayMemory]:
        return [self.memory, *([self.twin] if self.twin else [])]

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
        assert len(times) <= sum(min(limit, len(shelf)) for shelf in self.memory.shelves.values())
        if len(times) < count:
            # It repeats only where every shelf has given what it may.
            for shelf in self.memory.shelves.values():
                assert len(set(numbers) & set(shelf)) >= min(limit, len(shelf))

    @rule()
    def draw_one_of_each(self) -> None:
        drawn = [tags(memory.one_of_each()) for memory in self.both]

        (numbers,) = {tuple(one) for one in drawn}
        assert len(numbers) == len(self.memory.seen) or not self.memory.frames
        if self.is_balanced:
            for number, shelf in zip(numbers, self.memory.shelves, strict=True):
                assert shelf in self.offered[number][1]

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
        for shelf, entries in self.memory.shelves.items():
            places = self.options["total"] if shelf == ALL else self.options["per_class"]
            known = self.offered_to(shelf)
            assert len(entries) == len(set(entries)) == min(places, len(known))
            assert set(entries) <= set(known)
            if self.options["replacement"] == "first":
                assert entries == known[:places]

    @invariant()
    def what_is_held_is_what_stands_on_shelves(self) -> None:
        held = tags(self.memory.frames)
        assert len(held) == len(set(held))
        assert set(held) == {entry for shelf in self.memory.shelves.values() for entry in shelf}
        assert held == sorted(held)

    @invariant()
    def what_is_held_is_as_it_was_offered(self) -> None:
        for frame, labels in self.memory.frames:
            given_frame, given_labels = tagged(tag(labels), self.offered[tag(labels)])
            assert (frame.id, frame.video, frame.index) == (given_frame.id, given_frame.video, given_frame.index)
            np.testing.assert_array_equal(frame.image(), given_frame.image())
            for part in ("boxes", "classes", "unsure", "logits"):
                np.testing.assert_array_equal(getattr(labels, part), getattr(given_labels, part))
            assert (labels.weights, labels.source) == (given_labels.weights, "human")

    @invariant()
    def pixels_are_held_once_and_bytes_are_their_sum(self) -> None:
        pairs = self.memory.frames
        different = {id(frame): frame for frame, _ in pairs}
        assert len(different) == len({frame.id for frame, _ in pairs}) == len(self.memory)
        pixels = sum(frame.image().nbytes for frame in different.values())
        assert self.memory.bytes == pixels + sum(labels.bytes for _, labels in pairs)

    @invariant()
    def every_class_is_counted(self) -> None:
        names = {name for _, classes, _ in self.offered for name in classes}
        shelves = names if self.is_balanced else {ALL} if self.offered else set()
        assert set(self.memory.shelves) == shelves
        assert self.memory.seen == {name: len(self.offered_to(name)) for name in names}
        for name in names:
            if self.is_balanced:
                assert self.memory.count(name) == len(self.memory.shelves[name])
            else:
                assert self.memory.count(name) == sum(name in labels.classes for _, labels in self.memory.frames)

    @invariant()
    def a_twin_has_the_same(self) -> None:
        if self.twin:
            assert list(self.twin.shelves.items()) == list(self.memory.shelves.items())
            assert tags(self.twin.frames) == tags(self.memory.frames)
            assert (self.twin.bytes, self.twin.seen) == (self.memory.bytes, self.memory.seen)
            assert self.twin.random.bit_generator.state == self.memory.random.bit_generator.state


TestRemembering = Remembering.TestCase
TestRemembering.settings = settings(arbitrary.fewer, stateful_step_count=15)
