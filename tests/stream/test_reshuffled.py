"""Offline training gets every labelled frame several times, an even part at each step."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig
from leocod.labelling.base import Labeller
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream
from leocod.stream.reshuffled import Reshuffled, Shuffle


def test_offline_gets_every_labelled_frame_as_often_as_there_are_epochs(stream):
    labelled = sorted(frame.id for step in stream.steps() for frame, _ in step.labelled())

    steps = list(Reshuffled(stream, Shuffle(epochs=3, batch_size=3), seed=1).steps())

    assert len(steps) == 3
    assert sorted(frame.id for step in steps for frame in step.frames) == sorted(labelled * 3)
    assert [len(step.frames) for step in steps] == [6, 6, 6]


def test_offline_with_few_labels_has_whole_batches_and_steps_without_one(stream):
    steps = list(Reshuffled(stream, Shuffle(epochs=1, batch_size=6), seed=1).steps())

    assert sorted(len(step.frames) for step in steps) == [0, 0, 6]


def test_offline_started_later_goes_on_the_same(stream, told):
    whole = told(Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1))

    later = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1).steps(start=1)

    assert [[frame.id for frame in step.frames] for step in later] == [frames for _, frames, _ in whole[1:]]


def test_only_offline_keeps_frames_and_says_how_much_that_is(stream):
    offline = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1)

    arrivals = list(offline.arrivals())
    kept = {frame.id: (frame, labels) for one in arrivals for frame, labels in one.step.labelled()}

    assert {arrival.bytes for arrival in stream.arrivals()} == {0}
    assert {arrival.bytes for arrival in arrivals} == {
        sum(frame.image().nbytes + labels.bytes for frame, labels in kept.values())
    }


def test_all_labels_are_told_with_the_first_step(stream):
    once = [arrival.revealed for arrival in stream.arrivals()]

    offline = [arrival.revealed for arrival in Reshuffled(stream, Shuffle(1, 3), seed=1).arrivals()]

    assert offline[0] == once[0] | once[1] | once[2]
    assert offline[1:] == [{}, {}]


def test_offline_training_skips_what_cannot_be_read(files, folder):
    (folder / "3.png").unlink()
    stream = Stream(files(on_bad_frame="skip"), RandomLabeller(RandomOptions(per_step=2), seed=0))
    offline = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1)

    frames, skipped = [], {}
    for arrival in offline.arrivals():
        frames += [frame.id for frame in arrival.step.frames]
        skipped |= arrival.skipped

    assert sorted(frames) == sorted([0, 1, 2, 4, 5] * 2)
    assert list(skipped) == [3]


class Curious(Labeller):
    """Looks at what the learner predicts."""

    def choose(self, request):
        found = request.learner.predict(request.frames)
        return [frame.id for frame, _ in zip(request.frames, found, strict=True)]


def test_a_labeller_that_asks_the_learner_is_refused_offline(small):
    with pytest.raises(InvalidConfig, match="labels are chosen before anything is learnt. Use labels.name=random, uni"):
        list(Reshuffled(Stream(small, Curious()), Shuffle(1, 3), seed=1).arrivals(learner=object()))


def test_a_delay_makes_no_sense_offline(small):
    late = Stream(small, RandomLabeller(RandomOptions(per_step=2, delay=3)))

    with pytest.raises(InvalidConfig, match="labels.delay is 3, but offline training has all labels before the first"):
        Reshuffled(late, Shuffle(1, 3), seed=1)


def test_labels_that_are_not_complete_are_learnt_and_are_no_truth(small, a_frame):
    small._frames = [[a_frame(2 * step, (0, 1)), a_frame(2 * step + 1)] for step in range(3)]
    stream = Stream(small, RandomLabeller(RandomOptions(per_step=2, boxes=1)))

    arrivals = list(Reshuffled(stream, Shuffle(1, 6), seed=1).arrivals())

    labels = {frame: one for arrival in arrivals for frame, one in arrival.step.labels.items()}
    assert {frame for frame, one in labels.items() if one.complete} == {1, 3, 5}
    assert {frame for arrival in arrivals for frame in arrival.truth} == {1, 3, 5}
