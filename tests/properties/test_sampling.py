"""Who is labelled, in which order frames come, how a batch is cut, and which gradients may pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import arbitrary
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from leocod.benchmarks.base import Benchmark
from leocod.labelling.base import Labeller, StreamInfo
from leocod.labelling.fixed import FixedLabeller, FixedOptions
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.readers.recording import Entry, group_by_step, split
from leocod.stream.recorded import Stream
from leocod.stream.reshuffled import Reshuffled, Shuffle
from leocod.training.batch import Batch
from leocod.training.gradients import project
from leocod.types import LabelledFrame, Labels

budgets = some.integers(0, 8)
lengths = some.lists(some.integers(0, 7), min_size=1, max_size=6)
"""Frames in each step of a stream."""


def some_frames(frames: int, first: int = 0) -> list[LabelledFrame]:
    """So many frames, each with labels of its own."""
    return [(arbitrary.frame(first + n), Labels([[0, 0, 1, 1]], [(first + n) % 3])) for n in range(frames)]


class Rolled(Benchmark):
    """Frames that are already divided into steps."""

    name = "rolled"
    classes = ("mug", "book", "car")

    def __init__(self, lengths: Sequence[int]) -> None:
        firsts = np.cumsum([0, *lengths])
        self.steps_of_frames = [some_frames(length, int(first)) for length, first in zip(lengths, firsts, strict=False)]
        self.steps = len(lengths)

    def frames_of(self, step: int) -> list[LabelledFrame]:
        return self.steps_of_frames[step]

    @property
    def test(self) -> list[LabelledFrame]:
        return []


# -- who is labelled


def reveal(labeller: Labeller, step: int, pairs: list[LabelledFrame]) -> dict[int, Labels]:
    """The labels that a stream hands out for one step."""
    return Stream(Rolled([]), labeller).reveal(step, pairs)


@given(some.integers(0, 20), budgets, arbitrary.seeds, some.integers(0, 10**6), some.booleans())
def test_a_budget_is_spent_whole_on_frames_of_the_step_in_their_order(
    frames: int, budget: int, seed: int, step: int, nested: bool
) -> None:
    pairs = some_frames(frames)

    revealed = reveal(RandomLabeller(RandomOptions(per_step=budget, nested=nested), seed=seed), step, pairs)

    assert len(revealed) == min(budget, frames)
    assert list(revealed) == sorted(revealed)
    assert all(labels is pairs[frame][1] for frame, labels in revealed.items())


@given(some.integers(0, 20), budgets, budgets, arbitrary.seeds, some.integers(0, 10**6))
def test_nested_a_smaller_budget_gets_a_part_of_a_larger_one(
    frames: int, one: int, two: int, seed: int, step: int
) -> None:
    smaller, larger = (
        reveal(RandomLabeller(RandomOptions(per_step=budget, nested=True), seed=seed), step, some_frames(frames))
        for budget in sorted([one, two])
    )

    assert set(smaller) <= set(larger)


@given(some.lists(some.integers(0, 50), min_size=1, max_size=6), budgets, arbitrary.seeds, some.booleans())
def test_what_is_labelled_does_not_depend_on_what_was_asked_before(
    steps: list[int], budget: int, seed: int, nested: bool
) -> None:
    asked = RandomLabeller(RandomOptions(per_step=budget, nested=nested), seed=seed)

    for step in steps:
        fresh = RandomLabeller(RandomOptions(per_step=budget, nested=nested), seed=seed)
        assert set(reveal(asked, step, some_frames(12))) == set(reveal(fresh, step, some_frames(12)))


@given(some.lists(some.booleans(), max_size=16), budgets, arbitrary.seeds, some.integers(0, 1000), some.booleans())
def test_a_frame_that_nobody_knows_takes_no_label_from_another(
    known: list[bool], budget: int, seed: int, step: int, nested: bool
) -> None:
    pairs = some_frames(len(known))
    holed = [(frame, labels if known[frame.id] else Labels.unknown()) for frame, labels in pairs]
    labeller = RandomLabeller(RandomOptions(per_step=budget, nested=nested), seed=seed)

    full, revealed = reveal(labeller, step, pairs), reveal(labeller, step, holed)

    assert len(revealed) == min(budget, sum(known))
    assert {frame for frame in full if known[frame]} <= set(revealed)
    assert all(known[frame] for frame in revealed)


@given(some.integers(0, 12), some.frozensets(some.integers(0, 15)))
def test_a_fixed_choice_is_followed_and_no_more(frames: int, chosen: frozenset[int]) -> None:
    labeller = FixedLabeller(FixedOptions(per_step=1), stream=StreamInfo("film", (), None, lambda cost: chosen))

    revealed = reveal(labeller, 0, some_frames(frames))

    assert set(revealed) == chosen & set(range(frames))


# -- in which order


@given(lengths, some.integers(0, 5), arbitrary.seeds)
def test_a_stream_hands_out_every_frame_once_with_the_labels_that_were_bought(
    lengths: list[int], budget: int, seed: int
) -> None:
    steps = list(Stream(Rolled(lengths), RandomLabeller(RandomOptions(per_step=budget), seed=seed)).steps())

    assert [frame.id for step in steps for frame in step.frames] == list(range(sum(lengths)))
    assert [len(step.labels) for step in steps] == [min(budget, length) for length in lengths]
    assert [step.index for step in steps] == list(range(len(lengths)))


@given(lengths, some.integers(0, 5), some.integers(1, 4), some.integers(1, 5), arbitrary.seeds)
def test_offline_every_labelled_frame_comes_once_an_epoch(
    lengths: list[int], budget: int, epochs: int, size: int, seed: int
) -> None:
    stream = Stream(Rolled(lengths), RandomLabeller(RandomOptions(per_step=budget), seed=seed))
    labelled = [frame for step in stream.steps() for frame in step.labels]

    steps = list(Reshuffled(stream, Shuffle(epochs, size), seed=seed).steps())

    order = [frame.id for step in steps for frame in step.frames]
    assert len(steps) == len(lengths)
    assert Counter(order) == dict.fromkeys(labelled, epochs)
    for first in range(0, len(order), max(len(labelled), 1)):
        assert sorted(order[first : first + len(labelled)]) == sorted(labelled)
    counts = [-(-len(step.frames) // size) for step in steps]
    assert max(counts) - min(counts) <= 1
    assert all(len(step.labelled()) == len(step.frames) for step in steps)


@given(lengths, some.integers(1, 4), some.integers(1, 3), some.integers(1, 5), arbitrary.seeds, some.data())
def test_offline_training_goes_on_where_it_was_stopped(
    lengths: list[int], budget: int, epochs: int, size: int, seed: int, data: Any
) -> None:
    stream = Stream(Rolled(lengths), RandomLabeller(RandomOptions(per_step=budget), seed=seed))
    start = data.draw(some.integers(0, len(lengths)))

    def order(first: int) -> list[list[int]]:
        steps = Reshuffled(stream, Shuffle(epochs, size), seed=seed).steps(first)
        return [[frame.id for frame in step.frames] for step in steps]

    assert order(start) == order(0)[start:]


@given(some.integers(0, 60), some.integers(1, 16), some.integers(0, 3))
def test_the_split_puts_every_frame_in_one_place_and_steps_are_whole_but_the_last(
    frames: int, per_step: int, held_out: int
) -> None:
    entries = [Entry(n, "video", n, Path("a.jpg"), None, None) for n in range(frames)]

    divided = split(entries, frames_per_step=per_step, held_out=held_out)

    steps = group_by_step(divided)
    tests = [entry.id for entry in divided if entry.held_out]
    assert [entry.id for entry in divided] == list(range(frames))
    assert sorted([entry.id for step in steps for entry in step] + tests) == list(range(frames))
    assert all(len(step) == per_step for step in steps[:-1])
    assert all(step and step[-1].id - step[0].id == len(step) - 1 for step in steps)
    assert max(Counter(entry.step for entry in divided if entry.held_out).values(), default=0) <= held_out


# -- how a batch is cut


groups = some.lists(some.integers(0, 6), min_size=1, max_size=4).filter(any)


def a_batch(sizes: list[int], seed: int) -> Batch:
    firsts = np.cumsum([0, *sizes])
    batch = Batch.mean_of("current", *(some_frames(n, int(first)) for n, first in zip(sizes, firsts, strict=False)))
    return batch.with_seeds(np.random.default_rng(seed))


@given(groups, arbitrary.seeds)
def test_groups_count_the_same_and_so_do_the_frames_of_one(sizes: list[int], seed: int) -> None:
    batch = a_batch(sizes, seed)

    filled = [size for size in sizes if size]
    assert batch.share == pytest.approx(1)
    assert len(batch.pairs) == len(batch.seeds) == sum(sizes)
    for size, own in zip(filled, np.split(batch.shares, np.cumsum(filled)[:-1]), strict=True):
        np.testing.assert_allclose(own, 1 / (len(filled) * size), rtol=1e-6)


@given(groups, arbitrary.seeds, some.none() | some.integers(1, 30), some.integers(1, 4))
def test_the_parts_of_a_batch_are_the_batch_and_their_losses_add_up(
    sizes: list[int], seed: int, most: int | None, processes: int
) -> None:
    batch = a_batch(sizes, seed)
    losses = torch.rand(sum(sizes), generator=torch.Generator().manual_seed(seed))
    by_process = [batch.part(number, processes) for number in range(processes)]
    parts = [part for own in by_process for part in own.parts(most)]

    mean = batch.mean({"box": losses})["box"]
    added = sum(part.mean({"box": losses[[frame.id for frame, _ in part.pairs]]})["box"] for part in parts)

    assert added == pytest.approx(mean.item(), rel=1e-4)
    assert sum(part.share for part in parts) == pytest.approx(batch.share)
    assert all(0 < len(part.pairs) <= (most or sum(sizes)) for part in parts)
    whole = {
        frame.id: (share, own) for (frame, _), share, own in zip(batch.pairs, batch.shares, batch.seeds, strict=True)
    }
    cut = [
        (frame.id, (share, own))
        for part in parts
        for (frame, _), share, own in zip(part.pairs, part.shares, part.seeds, strict=True)
    ]
    assert sorted(cut) == sorted(whole.items())


@given(groups, arbitrary.seeds)
def test_a_digest_tells_a_batch_from_its_part_and_from_another_order(sizes: list[int], seed: int) -> None:
    batch = a_batch(sizes, seed)

    assert batch.digest == a_batch(sizes, seed).digest
    if len(batch.pairs) > 1:
        half = next(iter(batch.parts(1)))
        turned = Batch("current", batch.pairs[::-1], batch.shares[::-1], batch.seeds)
        assert len({batch.digest, half.digest, turned.digest, a_batch(sizes, seed + 1).digest}) == 4


# -- which gradients may pass


vectors = some.integers(1, 20).flatmap(
    lambda length: some.tuples(
        *[some.lists(some.floats(-1e3, 1e3, width=32), min_size=length, max_size=length).map(torch.tensor)] * 2
    )
)


@given(vectors, some.sampled_from([1e-12, 1.0, 1e12]))
def test_a_projected_gradient_opposes_nothing_is_no_longer_and_stays(pair: Any, factor: float) -> None:
    gradient, reference = pair[0], pair[1] * factor
    along = torch.dot(gradient.double(), reference.double()).item()

    projected = project(gradient, reference)

    lengths = gradient.double().norm().item(), reference.double().norm().item()
    slack = 1e-5 * lengths[0] * lengths[1]
    assert torch.isfinite(projected).all()
    assert torch.dot(projected.double(), reference.double()).item() >= -slack
    assert projected.double().norm().item() <= lengths[0] * (1 + 1e-5)
    torch.testing.assert_close(project(projected, reference), projected, rtol=1e-4, atol=1e-5 * lengths[0])
    if along >= 0:
        assert projected is gradient


@given(vectors)
def test_what_a_projection_takes_away_lies_along_the_reference(pair: Any) -> None:
    gradient, reference = pair
    taken = (gradient - project(gradient, reference)).double()

    along = reference.double()
    square = torch.dot(along, along)
    rest = taken - (torch.dot(taken, along) / square * along if square > 0 else 0)

    assert rest.norm() <= 1e-5 * (gradient.double().norm() + 1e-30)
