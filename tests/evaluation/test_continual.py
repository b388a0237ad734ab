"""CAP, FAP and F on tables small enough to check in one's head."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.evaluation.continual import (
    NEVER_SEEN,
    cap,
    cap_over_time,
    fap,
    forgetting,
    forgetting_by_class,
    forgetting_curve,
    steps_since_seen,
)

NAN = float("nan")


def present_at(steps: int, *by_class: list[int]) -> np.ndarray:
    presence = np.zeros((steps, len(by_class)), bool)
    for category, seen in enumerate(by_class):
        presence[seen, category] = True
    return presence


def column(*values: float) -> np.ndarray:
    return np.array(values)[:, None]


def test_cap_is_the_mean_over_evaluations_and_fap_the_last() -> None:
    table = np.array([[0.1, 0.3], [0.3, 0.5]])

    assert cap_over_time(table).tolist() == pytest.approx([0.2, 0.4])
    assert cap(table) == pytest.approx(0.3)
    assert fap(table) == pytest.approx(0.4)


def test_a_class_without_test_box_is_left_out_and_one_at_zero_counts() -> None:
    table = np.array([[0.2, NAN, 0.0], [0.6, NAN, 0.0]])

    assert cap(table) == pytest.approx(0.2)
    assert fap(table) == pytest.approx(0.3)


def test_a_mean_over_nothing_is_nan() -> None:
    nothing, never = np.zeros((0, 2)), np.full((2, 2), NAN)

    for table in (nothing, never):
        assert np.isnan(cap(table))
        assert np.isnan(fap(table))
    assert np.isnan(forgetting(never, [0, 1], present_at(2, [0], [0])))
    assert np.isnan(forgetting(nothing, [], present_at(2, [0], [0])))


def test_steps_since_seen_counts_from_the_last_presence_up_to_the_evaluated_step() -> None:
    presence = present_at(6, [0, 3], [5], [])

    away = steps_since_seen([1, 3, 5], presence)

    assert away[:, 0].tolist() == [1, 0, 2]
    assert away[:, 1].tolist() == [NEVER_SEEN, NEVER_SEEN, 0]
    assert away[:, 2].tolist() == [NEVER_SEEN] * 3


def test_forgetting_weighs_the_loss_by_time_away() -> None:
    # Seen at step 0; evaluated after steps 0, 1 and 3: k = 0, 1, 3. Losses 0, 0.1, 0.4; weights 0, 1/4, 3/4.
    result = forgetting(column(0.5, 0.4, 0.1), [0, 1, 3], present_at(4, [0]))

    assert result == pytest.approx(0.1 / 4 + 0.4 * 3 / 4)


def test_paper_and_oak_weights_differ_when_the_shortest_time_away_is_not_zero() -> None:
    # k = 1, 2, 3. Paper: 0, 1/3, 2/3. OAK: 1/6, 2/6, 3/6.
    table, steps, presence = column(0.6, 0.3, 0.0), [1, 2, 3], present_at(4, [0])

    assert forgetting(table, steps, presence) == pytest.approx(0.3 / 3 + 0.6 * 2 / 3)
    assert forgetting(table, steps, presence, weights="oak") == pytest.approx(0.3 * 2 / 6 + 0.6 * 3 / 6)


def test_evaluations_with_the_same_time_away_are_averaged() -> None:
    # Seen at 0 and 2, evaluated after each of 0..3: k = 0, 1, 0, 1. aCAP_0 = 0.5, aCAP_1 = 0.2.
    result = forgetting(column(0.4, 0.1, 0.6, 0.3), [0, 1, 2, 3], present_at(4, [0, 2]))

    assert result == pytest.approx(0.3)


def test_evaluations_before_the_first_presence_are_left_out() -> None:
    # Seen at step 2 only. The 0.9 from before must not count.
    result = forgetting(column(0.9, 0.5, 0.3), [1, 2, 3], present_at(4, [2]))

    assert result == pytest.approx(0.2)


def test_forgetting_is_negative_when_a_class_gets_better_while_away() -> None:
    assert forgetting(column(0.2, 0.5), [0, 1], present_at(2, [0])) == pytest.approx(-0.3)


def test_classes_with_a_single_bin_or_no_test_box_or_no_presence_are_left_out_of_the_mean() -> None:
    always, gone, untested, never = [0, 1, 2, 3], [0], [0], []
    presence = present_at(4, always, gone, untested, never)
    table = np.array([[0.9, 0.5, NAN, 0.1], [0.1, 0.3, NAN, 0.9]])

    by_class = forgetting_by_class(table, [0, 3], presence)

    assert np.isnan(by_class[[0, 2, 3]]).all()
    assert by_class[1] == pytest.approx(0.2)
    assert forgetting(table, [0, 3], presence) == pytest.approx(0.2)


def test_equal_width_bins_stand_for_their_centre() -> None:
    # k = 0, 1, 3, 4 in two bins of width 2: centres 1 and 3, means 0.5 and 0.2. Paper weights: all on the second bin.
    table, steps, presence = column(0.6, 0.4, 0.3, 0.1), [0, 1, 3, 4], present_at(5, [0])

    assert forgetting(table, steps, presence, bins=2) == pytest.approx(0.3)
    # OAK: weights 1/4 and 3/4, and the first bin has lost nothing.
    assert forgetting(table, steps, presence, bins=2, weights="oak") == pytest.approx(0.3 * 3 / 4)


def test_empty_bins_count_for_nothing() -> None:
    # k = 0, 1, 9 in three bins of width 3: centres 1.5 and 7.5, the middle one empty.
    result = forgetting(column(0.4, 0.6, 0.1), [0, 1, 9], present_at(10, [0]), bins=3)

    assert result == pytest.approx(0.4)


def test_one_bin_or_one_time_away_gives_no_forgetting() -> None:
    assert np.isnan(forgetting(column(0.4, 0.1), [0, 1], present_at(2, [0]), bins=1))
    assert np.isnan(forgetting(column(0.4, 0.1), [0, 1], present_at(2, [0, 1]), bins=5))


def test_bins_must_be_positive() -> None:
    with pytest.raises(ValueError, match="bins is 0"):
        forgetting(column(0.4), [0], present_at(1, [0]), bins=0)


def test_presence_after_the_evaluation_does_not_count() -> None:
    early = forgetting(column(0.5, 0.3), [0, 2], present_at(3, [0]))
    with_future = forgetting(column(0.5, 0.3), [0, 2], present_at(9, [0, 5, 8]))

    assert early == with_future == pytest.approx(0.2)


def test_forgetting_curve_pools_classes_by_time_away() -> None:
    table = np.array([[0.5, 0.9, NAN], [0.4, 0.8, NAN]])

    k, precision = forgetting_curve(table, [0, 2], present_at(3, [0], [2], [0]))

    assert k.tolist() == [0, 0, 2]
    assert precision.tolist() == [0.5, 0.8, 0.4]
