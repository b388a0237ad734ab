"""Frames that somebody chose before are labelled, and no others."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig
from leocod.labelling.base import StreamInfo
from leocod.labelling.fixed import FixedLabeller, FixedOptions

PUBLISHED = {2: frozenset({3, 9, 99})}


def fixed(per_step=2):
    return FixedLabeller(FixedOptions(per_step=per_step), stream=StreamInfo("film", ("mug",), 3, PUBLISHED.get))


def test_a_fixed_choice_is_followed_exactly(pairs, request_for):
    assert list(fixed().choose(request_for(0, pairs))) == [3, 9]
    assert list(fixed().choose(request_for(1, pairs[4:8]))) == []


def test_a_cost_without_a_published_choice_is_refused_with_the_cure():
    with pytest.raises(InvalidConfig, match="film has no published choice of 4 frames a step. Use labels.name=random"):
        fixed(per_step=4)
