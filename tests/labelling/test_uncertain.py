"""The frames whose detections are most doubtful."""

from __future__ import annotations

import pytest

from leocod.labelling.uncertain import UncertainLabeller, UncertainOptions


def test_it_asks_for_the_frame_with_a_score_of_one_half(pairs, request_for, a_pupil, detected):
    sure = {number: detected(0.99) for number in range(16)}
    learner = a_pupil(slow=sure | {3: detected(0.01), 11: detected(0.5)})

    assert list(UncertainLabeller().choose(request_for(0, pairs, 1, learner))) == [11]


def test_doubts_add_up_in_bits(pairs, a_pupil, detected):
    frames = [frame for frame, _ in pairs[:4]]
    learner = a_pupil(slow={0: detected(0.5), 1: detected(0.5, 0.5), 2: detected(1.0)})

    assert UncertainLabeller().score(frames, learner) == pytest.approx([1, 2, 0, 0], abs=1e-6)


def test_what_the_detector_does_not_believe_in_raises_no_doubt(pairs, a_pupil, detected):
    learner = a_pupil(slow={0: detected(*[0.09] * 50)})

    assert UncertainLabeller().score([pairs[0][0]], learner) == [0]
    assert UncertainLabeller(UncertainOptions(score_above=0.05)).score([pairs[0][0]], learner) != [0]
