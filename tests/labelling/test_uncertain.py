"""The frames whose detections are most doubtful."""

from __future__ import annotations

import pytest

from leocod.labelling.uncertain import UncertainLabeller


def test_it_asks_for_the_frame_with_a_score_of_one_half(pairs, request_for, a_pupil, detected):
    sure = {number: detected(0.99, 0.02) for number in range(16)}
    learner = a_pupil(slow=sure | {3: detected(0.01), 11: detected(0.9, 0.5)})

    assert list(UncertainLabeller().choose(request_for(0, pairs, 1, learner))) == [11]


def test_the_score_is_the_highest_entropy_in_bits(pairs, a_pupil, detected):
    frames = [frame for frame, _ in pairs[:4]]
    learner = a_pupil(slow={0: detected(0.9, 0.5), 1: detected(0.11, 0.89, 0.11), 2: detected(1.0)})

    assert UncertainLabeller().score(frames, learner) == pytest.approx([1, 0.5, 0, 0], abs=1e-3)
