"""Only what has been labelled since a run, or labelled otherwise, is learnt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidData
from leocod.stream.added_labels import AddedLabels, KnownLabels
from leocod.stream.fingerprints import fingerprint_frame, fingerprint_labels
from leocod.types import Labels

CLASSES = ("mug", "book", "car")


class Given(Benchmark):
    """Two steps of three frames and two test frames, as somebody made them."""

    name, classes, steps = "given", CLASSES, 2

    def __init__(self, pairs, test):
        self.pairs, self._test = pairs, test

    def frames_of(self, step):
        return self.pairs[3 * step : 3 * step + 3]

    @property
    def test(self):
        return self._test


@pytest.fixture
def frames(a_frame):
    """Eight labelled frames, each at a place of its own."""
    return [(replace(frame, video="v", index=frame.id), labels) for frame, labels in map(a_frame, range(8))]


def known(pairs, tested=()):
    given = {fingerprint_frame(frame): fingerprint_labels(labels, CLASSES) for frame, labels in pairs}
    return KnownLabels(given, frozenset(fingerprint_frame(frame) for frame, _ in tested))


def ids(pairs):
    return [frame.id for frame, _ in pairs]


def unlabelled(pair):
    return pair[0], Labels.unknown()


def test_steps_without_news_are_passed_over_and_what_was_learnt_is_left_out(frames):
    pairs = [*frames[:3], frames[3], unlabelled(frames[4]), frames[5]]

    added = AddedLabels(Given(pairs, frames[6:]), known([*frames[:3], frames[3]], frames[6:]), "runs/first")

    assert added.steps == 1
    assert ids(added.frames_of(0)) == [4, 5]
    assert ids(added.test) == [6, 7]
    assert added.warnings[0] == "Labels of 1 frame in 1 step are new or changed. Nothing else is learnt."


def test_a_label_that_was_changed_is_new(frames):
    frame, labels = frames[1]
    changed = (frame, replace(labels, boxes=labels.boxes + 1))

    added = AddedLabels(Given([frames[0], changed, *frames[2:6]], frames[6:]), known(frames[:6]), "runs/first")

    assert ids(added.frames_of(0)) == [1]


def test_what_tested_is_never_learnt_and_what_was_learnt_never_tests(frames):
    """With more labels, the rule that holds frames out may choose others."""
    shifted = Given(frames[2:], frames[:2])

    added = AddedLabels(shifted, known([frames[0], frames[3]], tested=[frames[4]]), "runs/first")

    learnt = [frame.id for step in range(added.steps) for frame in [pair[0] for pair in added.frames_of(step)]]
    assert learnt == [2, 5, 6, 7]
    assert sorted(ids(added.test)) == [1, 4]


def test_without_news_it_says_so(frames):
    with pytest.raises(InvalidData, match=r"^No label is new since runs/first: there is nothing to learn"):
        AddedLabels(Given(frames[:6], frames[6:]), known(frames), "runs/first")
