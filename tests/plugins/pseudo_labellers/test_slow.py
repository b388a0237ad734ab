"""The pseudo-labeller of the paper."""

from __future__ import annotations

from leocod.plugins.pseudo_labellers.slow import Slow


def test_the_slow_learner_says_what_is_in_each_frame(request_of_two):
    assert [found.scores.tolist() for found in Slow().detect(request_of_two)] == [[0.25], [0.25]]
