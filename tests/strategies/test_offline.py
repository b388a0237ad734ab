"""Offline training: declared as the exception, and in batches."""

from __future__ import annotations

from leocod.strategies.offline import Offline, OfflineOptions


def test_it_says_that_it_needs_more_than_one_pass(a_detector):
    assert not Offline(a_detector()).single_pass


def test_what_a_step_holds_is_trained_on_in_batches(a_detector, a_step):
    strategy = Offline(a_detector(), OfflineOptions(batch_size=3))

    sizes = [len(batch.pairs) for batch in strategy.batches(a_step(frames=8, labelled=8))]

    assert sizes == [3, 3, 2]
