"""Pseudo labels counted against the truth."""

from __future__ import annotations

import numpy as np

from leocod.evaluation.audit import audit_pseudo_labels, check_labels, match_labels
from leocod.events import ClassCounts, PseudoLabelAudit, PseudoLabelCheck
from leocod.types import Labels

HERE, SHIFTED, THERE = [0, 0, 10, 10], [0, 2, 10, 12], [50, 50, 60, 60]


def marked(*marks: tuple[list[float], int]) -> Labels:
    boxes, classes = zip(*marks, strict=True) if marks else ([], [])
    return Labels(np.array(boxes, np.float32).reshape(-1, 4), np.array(classes, np.int64))


def test_counts_over_the_frames_looked_at_only() -> None:
    pseudo = {1: marked((SHIFTED, 0), (THERE, 1)), 2: marked()}
    truth = {1: marked((HERE, 0)), 2: marked((HERE, 2)), 3: marked((HERE, 0), (THERE, 0))}

    by_class = {0: ClassCounts(1, 1, 1), 1: ClassCounts(1, 0, 0), 2: ClassCounts(0, 0, 1)}
    assert audit_pseudo_labels(pseudo, truth) == PseudoLabelAudit(2, labels=2, right=1, objects=2, by_class=by_class)


def test_another_class_is_wrong() -> None:
    assert match_labels(marked((HERE, 1)), marked((HERE, 0))).tolist() == [False]


def test_a_true_box_is_matched_once_and_the_first_label_takes_it() -> None:
    assert match_labels(marked((SHIFTED, 0), (HERE, 0)), marked((HERE, 0))).tolist() == [True, False]


def test_a_second_label_takes_the_next_free_true_box() -> None:
    assert match_labels(marked((HERE, 0), (HERE, 0)), marked((HERE, 0), (SHIFTED, 0))).tolist() == [True, True]


def test_the_overlap_must_reach_the_threshold() -> None:
    half, truth = marked(([0, 0, 10, 5], 0)), marked((HERE, 0))

    assert match_labels(half, truth).tolist() == [True]
    assert match_labels(half, truth, iou=0.51).tolist() == [False]


def test_nothing_pseudo_labelled_is_all_zero() -> None:
    assert audit_pseudo_labels({}, {}) == PseudoLabelAudit(0, 0, 0, 0, {})


def test_frames_whose_truth_nobody_knows_are_not_counted() -> None:
    pseudo = {1: marked((HERE, 0)), 2: marked((HERE, 0), (THERE, 1))}

    assert audit_pseudo_labels(pseudo, {1: marked((HERE, 0))}) == PseudoLabelAudit(
        *(1, 1, 1, 1), by_class={0: ClassCounts(1, 1, 1)}
    )
    assert audit_pseudo_labels(pseudo, {}) == PseudoLabelAudit(0, 0, 0, 0, {})


def test_a_label_counts_for_the_class_that_it_says_and_an_object_for_its_own() -> None:
    audit = audit_pseudo_labels({1: marked((HERE, 3))}, {1: marked((HERE, 0))})

    assert audit.by_class == {0: ClassCounts(0, 0, 1), 3: ClassCounts(1, 0, 0)}


def test_a_check_counts_what_was_found_and_what_of_it_a_person_says_is_there() -> None:
    given = marked((HERE, 0), (THERE, 1))

    assert check_labels(marked((SHIFTED, 0), (THERE, 0), (HERE, 0)), given) == PseudoLabelCheck(labels=3, right=1)
    assert check_labels(marked(), given) == PseudoLabelCheck(0, 0)
