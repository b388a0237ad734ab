"""The pseudo-labeller of Efficient-CLS+."""

from __future__ import annotations

from leocod.plugins.pseudo_labellers.fast import Fast


def test_the_fast_learner_says_what_is_in_each_frame(request_of_two):
    assert [found.scores.tolist() for found in Fast().detect(request_of_two)] == [[0.75], [0.75]]
