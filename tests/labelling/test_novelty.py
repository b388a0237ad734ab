"""The frames that look unlike anything in the memory."""

from __future__ import annotations

import numpy as np

from leocod.labelling.novelty import NoveltyLabeller, NoveltyOptions, rank_by_distance


def test_it_asks_for_the_frame_that_is_far_from_all_that_is_remembered(pairs, request_for, a_pupil):
    learner = a_pupil(features={2: 5.0, 9: 5.2, 12: -40.0}, memory=(0.0, 5.1))

    assert list(NoveltyLabeller().choose(request_for(0, pairs, 1, learner))) == [12]


def test_two_frames_that_are_alike_are_not_both_new(pairs, request_for, a_pupil):
    learner = a_pupil(features={3: 100.0, 4: 101.0, 8: 30.0}, memory=(0.0,))

    assert list(NoveltyLabeller().choose(request_for(0, pairs, 2, learner))) == [4, 8]


def test_while_nothing_is_remembered_the_most_unusual_frame_is_new(pairs, request_for, a_pupil):
    assert list(NoveltyLabeller().choose(request_for(0, pairs, 1, a_pupil(features={5: 7.0})))) == [5]


def test_a_frame_that_cannot_be_read_is_not_new(pairs, request_for, a_pupil):
    learner = a_pupil(features={5: np.nan, 6: 0.1}, memory=(0.0,))

    assert list(NoveltyLabeller().choose(request_for(0, pairs, 1, learner))) == [6]


def test_only_so_many_remembered_frames_are_compared_with(pairs, request_for, a_pupil):
    learner = a_pupil(features={1: 9.0, 2: 5.0}, memory=(0.0, 9.0))

    few = NoveltyLabeller(NoveltyOptions(compare_with=1)).choose(request_for(0, pairs, 1, learner))
    all_of_them = NoveltyLabeller().choose(request_for(0, pairs, 1, learner))

    assert (list(few), list(all_of_them)) == ([1], [2])


def test_distances_never_grow_in_the_order_in_which_frames_are_taken():
    features = np.random.default_rng(0).normal(size=(30, 3))

    scores = rank_by_distance(features, np.zeros((2, 3)))

    taken = features[np.argsort(-scores, kind="stable")]
    nearest = [
        min(np.linalg.norm(taken[place] - known) for known in [np.zeros(3), *taken[:place]]) for place in range(30)
    ]
    assert np.allclose(nearest, np.sort(scores)[::-1])
