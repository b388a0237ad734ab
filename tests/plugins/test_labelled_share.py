"""How much labelled frames count beside the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leocod.plugins.labelled_share import share_update
from leocod.types import LossWeights


@pytest.fixture
def frames(a_frame):
    """Two labelled frames and six others, on which no proposals are trained."""
    pairs = [a_frame(number, (0,)) for number in range(8)]
    weights = LossWeights(proposals=0.0)
    others = [(frame, replace(labels, source="pseudo", weights=weights)) for frame, labels in pairs[2:]]
    return pairs[:2], others


def test_labelled_frames_have_the_share_of_the_update(frames):
    shown = share_update(*frames, 0.6)

    weights = [labels.weights for _, labels in shown]
    assert sum(weight.classes for weight in weights[:2]) / 8 == pytest.approx(0.6)
    assert sum(weight.classes for weight in weights) / 8 == pytest.approx(1)
    assert [weight.proposals > 0 for weight in weights] == [True] * 2 + [False] * 6


def test_without_a_share_the_others_are_as_they_were(frames):
    labelled, others = frames

    assert share_update(labelled, others, None) == others


def test_a_share_needs_both_kinds_of_frames(frames):
    labelled, others = frames

    assert share_update([], others, 0.6) == others
    assert share_update(labelled, [], 0.6) == []
