"""The frames about which the fast and the slow learner disagree."""

from __future__ import annotations

import pytest

from leocod.labelling.disagreement import DisagreementLabeller


def test_it_asks_for_the_frame_in_which_only_one_of_the_two_sees_something(pairs, request_for, a_pupil, detected):
    same = {number: detected(0.9, 0.8) for number in range(16)}
    learner = a_pupil(slow=same, fast=same | {6: detected()})

    assert list(DisagreementLabeller().choose(request_for(0, pairs, 1, learner))) == [6]


def test_the_score_is_the_share_of_detections_that_only_one_has(pairs, a_pupil, detected):
    frames = [frame for frame, _ in pairs[:5]]
    slow = {0: detected(0.9), 1: detected(0.9, 0.9), 2: detected(0.9), 3: detected(0.9)}
    fast = {0: detected(0.4), 1: detected(0.9), 2: detected(0.9, classes=[1]), 3: detected(0.2)}

    scores = DisagreementLabeller().score(frames, a_pupil(slow=slow, fast=fast))

    # The same; two of three in both; another class; one that does not count; nothing at all.
    assert scores == pytest.approx([0, 1 / 3, 1, 1, 0])
