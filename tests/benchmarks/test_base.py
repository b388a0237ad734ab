"""Streams hand out each step once, with revealed labels only; offline training gets an even part at each step."""

from __future__ import annotations

import pytest

from leocod.benchmarks.base import Benchmark, Reshuffled, Shuffle, Stream
from leocod.labelling import BudgetLabeller
from leocod.types import Labels


class Small(Benchmark):
    """Three steps of four frames."""

    name, classes, steps = "small", ("a", "b", "c"), 3

    def __init__(self, a_frame):
        self._frames = [[a_frame(step * 5 + k, (k % 3,)) for k in range(4)] for step in range(3)]

    def moment(self, step):
        return self._frames[step]

    test = ()


@pytest.fixture
def stream(a_frame):
    return Stream(Small(a_frame), BudgetLabeller(2, seed=0))


def test_every_step_comes_once_in_order(stream):
    steps = list(stream.steps())

    assert [step.index for step in steps] == [0, 1, 2]
    assert [frame.id for frame in steps[1].frames] == [5, 6, 7, 8]
    assert all(len(step.labels) == 2 for step in steps)


def test_starting_later_gives_the_same_steps(stream):
    whole, later = list(stream.steps()), list(stream.steps(start=2))

    assert list(later[0].labels) == list(whole[2].labels)


def test_a_learner_cannot_reach_hidden_labels_test_frames_or_the_future(stream, reachable):
    step = next(stream.steps())
    hidden = [stream.truth[frame.id] for frame in step.unlabelled]
    assert hidden

    within = reachable(step)

    assert {id(one) for one in within if isinstance(one, Labels)} == {id(one) for one in step.labels.values()}
    assert not any(isinstance(one, Benchmark | Stream) for one in within)
    assert {one.id for one in within if type(one).__name__ == "Frame"} == {frame.id for frame in step.frames}


def test_offline_gets_every_labelled_frame_as_often_as_there_are_epochs(stream):
    labelled = sorted(frame.id for step in stream.steps() for frame, _ in step.labelled())

    steps = list(Reshuffled(stream, Shuffle(epochs=3, batch_size=3), seed=1).steps())

    assert len(steps) == 3
    assert sorted(frame.id for step in steps for frame in step.frames) == sorted(labelled * 3)
    assert [len(step.frames) for step in steps] == [6, 6, 6]


def test_offline_with_few_labels_has_whole_batches_and_steps_without_one(stream):
    steps = list(Reshuffled(stream, Shuffle(epochs=1, batch_size=6), seed=1).steps())

    assert sorted(len(step.frames) for step in steps) == [0, 0, 6]


def test_offline_started_later_goes_on_the_same(stream):
    whole = [
        [frame.id for frame in step.frames]
        for step in Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1).steps()
    ]
    later = [
        [frame.id for frame in step.frames]
        for step in Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1).steps(start=1)
    ]

    assert later == whole[1:]


def test_only_offline_keeps_frames_and_says_how_much_that_is(stream):
    offline = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1)

    kept = {frame.id: (frame, labels) for step in offline.steps() for frame, labels in step.labelled()}
    list(stream.steps())

    assert stream.bytes == 0
    assert offline.bytes == sum(frame.image().nbytes + labels.bytes for frame, labels in kept.values())
