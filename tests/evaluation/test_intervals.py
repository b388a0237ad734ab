import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from leocod.evaluation.intervals import (
    LIKENESS,
    UNKNOWN,
    Difference,
    Interval,
    SeedVariance,
    find_t_quantile,
    measure_crossed,
    measure_paired,
    measure_runs,
    measure_single,
    pool_pairs,
)


@pytest.mark.parametrize(
    ("degrees", "expected"),
    # From printed tables of Student's distribution.
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (19, 2.093), (120, 1.980), (math.inf, 1.960)],
)
def test_the_quantile_is_that_of_printed_tables(degrees: float, expected: float) -> None:
    assert find_t_quantile(degrees) == pytest.approx(expected, abs=0.0005)


def test_the_quantile_falls_with_every_degree_of_freedom_also_between_whole_ones() -> None:
    quantiles = [find_t_quantile(degrees) for degrees in (1.0, 1.5, 2.0, 19.5, 9_999.0, 10_001.0)]

    assert quantiles == sorted(quantiles, reverse=True)
    assert find_t_quantile(4, 0.99) == pytest.approx(4.604, abs=0.0005)


def test_the_mean_squares_are_those_of_a_table_that_one_can_check_by_hand() -> None:
    # Means of runs 2 and 4, of classes 1, 3, 5; the rest is nothing. MS_run = 3 * 2 = 6, MS_class = 2 * 8 / 2 = 8.
    error = measure_crossed(np.array([[0.0, 2.0, 4.0], [2.0, 4.0, 6.0]]))

    assert error.variance == pytest.approx((6 + 8) / 6)
    # 14^2 / 6^2 = 5.4, but three classes have two degrees of freedom.
    assert error.degrees == 2.0


def test_where_seeds_do_not_differ_the_interval_is_that_of_the_classes() -> None:
    by_class = [1.0, 4.0, 2.0, 9.0]

    error = measure_crossed(np.array([by_class, by_class, by_class]))

    assert error == pytest.approx((np.var(by_class, ddof=1) / 4, 3.0))


def test_seeds_that_agree_by_luck_do_not_make_an_interval_small() -> None:
    # The two runs have the same mean, 2, but in every class they differ by 2.
    error = measure_crossed(np.array([[1.0, 3.0, 1.0, 3.0], [3.0, 1.0, 3.0, 1.0]]))

    assert error == pytest.approx((8 / 3 / 8, 3.0))


def test_where_nothing_differs_the_interval_is_a_point() -> None:
    error = measure_crossed(np.full((3, 4), 2.5))

    assert error.surround(2.5) == Interval(2.5, 2.5)


def test_where_classes_do_not_differ_the_interval_is_that_of_the_seeds() -> None:
    by_run = [1.0, 2.0, 6.0]

    error = measure_crossed(np.array([[value] * 9 for value in by_run]))

    assert error == pytest.approx(measure_runs(by_run))


@pytest.mark.parametrize(
    ("runs", "classes", "deviations"),
    [
        # What a run, a class and the rest add to a difference, as standard deviations in points.
        (5, 20, (1.0, 3.0, 5.0)),
        (3, 20, (1.0, 0.0, 5.0)),
        (2, 14, (0.6, 1.0, 3.0)),
        (5, 20, (0.0, 3.0, 5.0)),
        (5, 20, (2.0, 1.0, 1.0)),
        (10, 5, (1.0, 5.0, 2.0)),
    ],
)
def test_the_interval_contains_the_true_mean_about_95_times_of_100(
    runs: int, classes: int, deviations: tuple[float, float, float]
) -> None:
    generator, draws, inside = np.random.default_rng(0), 600, 0
    of_run, of_class, of_rest = deviations
    for _ in range(draws):
        drawn = (
            3.0
            + generator.normal(0, of_run, (runs, 1))
            + generator.normal(0, of_class, (1, classes))
            + generator.normal(0, of_rest, (runs, classes))
        )
        low, high = measure_crossed(drawn).surround(float(drawn.mean()))
        inside += low < 3.0 < high

    # Of 600 draws at 95 %, 30 are expected outside, give or take 11 (two standard deviations). Where runs hardly
    # differ, the rest that counts in their place makes it a little wider than needed.
    assert 0.92 <= inside / draws <= 0.995


def test_all_comparisons_of_a_table_tell_how_much_one_varies() -> None:
    # Variances over the two runs: 2, 8 and 2.
    pooled = pool_pairs(np.array([[1.0, 3.0], [2.0, 6.0], [4.0, 2.0]]), rows=4)

    assert pooled.variance == pytest.approx(4)
    assert pooled.degrees == pytest.approx(1 / (1 / LIKENESS + 1 / 2))


def test_a_single_comparison_tells_nothing_beside_itself() -> None:
    assert pool_pairs(np.array([[1.0, 3.0, 4.0]]), rows=2) == UNKNOWN
    # Three rows have two comparisons of their own; the third follows from them.
    assert pool_pairs(np.ones((3, 2)), rows=3).degrees == pool_pairs(np.ones((2, 2)), rows=4).degrees


def test_what_other_comparisons_tell_counts_with_its_degrees_of_freedom() -> None:
    by_run, by_class = [1.0, 3.0], np.array([[1.0, 1.0, 1.0], [3.0, 3.0, 3.0]])

    # Its own variance is 2 with one degree of freedom, the others' 1 with three.
    own, with_others = measure_runs(by_run), measure_paired(by_run, None, SeedVariance(1.0, 3.0))

    assert own == (2 / 2, 1)
    assert with_others == pytest.approx(((1 * 2 + 3 * 1) / 4 / 2, 4))
    assert measure_paired(by_run, by_class, SeedVariance(1.0, 3.0)) == pytest.approx((with_others.variance, 2))
    assert measure_paired(by_run, by_class) == pytest.approx((own.variance, 1))


@pytest.mark.parametrize(
    ("runs", "classes", "deviations"),
    [
        # What a run adds to each row, as standard deviations in points: alike, and from a half to two.
        (2, 14, [1.0] * 8),
        (2, 20, np.linspace(0.5, 2, 8)),
        (3, 14, [1.0] * 8),
        (3, 20, np.linspace(0.5, 2, 8)),
        (3, 14, [0.0] * 8),
        (5, 20, np.linspace(0.5, 2, 8)),
    ],
)
def test_with_other_comparisons_the_interval_contains_the_true_mean_about_95_times_of_100(
    runs: int, classes: int, deviations: list[float]
) -> None:
    generator, inside = np.random.default_rng(0), []
    for _ in range(150):
        drawn = draw_table(generator, runs, classes, deviations)
        differences = drawn[1:] - drawn[0]
        pooled = pool_pairs(differences.mean(axis=2), rows=len(drawn))
        for one in differences:
            low, high = measure_paired(one.mean(axis=1), one, pooled).surround(float(one.mean()))
            inside.append(low < 0 < high)

    assert 0.92 <= np.mean(inside) <= 0.995


def test_with_other_comparisons_two_seeds_say_enough_to_be_of_use() -> None:
    """By its own two runs alone the interval of a difference is some ten points wide."""
    generator, alone, pooled = np.random.default_rng(0), [], []
    for _ in range(30):
        drawn = draw_table(generator, 2, 14, [2.0] * 9)
        differences = drawn[1:] - drawn[0]
        expected = pool_pairs(differences.mean(axis=2), rows=len(drawn))
        alone += [measure_crossed(one).surround(0).high for one in differences]
        pooled += [measure_crossed(one, expected).surround(0).high for one in differences]

    assert np.median(pooled) < np.median(alone) / 2


def draw_table(
    generator: np.random.Generator, runs: int, classes: int, deviations: Sequence[float]
) -> NDArray[np.float64]:
    """Figures of rows x runs x classes; a run adds so much to each row."""
    rows = len(deviations)
    return np.asarray(
        generator.normal(0, 3, (1, runs, 1))
        + np.reshape(deviations, (-1, 1, 1)) * generator.normal(0, 1, (rows, runs, 1))
        + generator.normal(0, 1, (rows, 1, classes))
        + generator.normal(0, 2, (rows, runs, classes))
    )


def test_over_seeds_alone_the_interval_would_miss_the_mean_where_classes_differ() -> None:
    """Why classes count: the mean of these 20 classes is not that of other 20."""
    generator, draws, inside = np.random.default_rng(0), 300, 0
    for _ in range(draws):
        drawn = generator.normal(0, 3.0, (1, 20)) + generator.normal(0, 1.0, (5, 20))
        low, high = measure_runs(drawn.mean(axis=1).tolist()).surround(float(drawn.mean()))
        inside += low < 0 < high

    assert inside / draws < 0.7


def test_a_single_run_has_the_variance_of_chance_besides_that_of_its_classes() -> None:
    by_class = np.array([1.0, 3.0, 5.0])

    assert measure_single(by_class, by_chance=2 * 1.5**2) == pytest.approx((4 / 3 + 2 * 1.5**2, 2))
    assert measure_single(None, by_chance=1.0) == (1.0, math.inf)


def test_the_other_sign_turns_the_interval_round() -> None:
    assert Interval(-1.0, 3.0).flip() == Interval(-3.0, 1.0)
    assert (Interval(0.1, 1.0).is_above, Interval(0.0, 1.0).is_above) == (True, False)
    assert (Interval(-1.0, -0.1).is_below, Interval(-1.0, 0.0).is_below) == (True, False)


def test_a_difference_the_other_way_round_has_the_other_sign_everywhere() -> None:
    difference = Difference((1.0, 3.0), Interval(-0.5, 4.5))

    assert difference.mean == 2.0
    assert difference.flip() == Difference((-1.0, -3.0), Interval(-4.5, 0.5))
    assert Difference((1.0,), None).flip().interval is None
