"""Forward transfer on tables small enough to check in one's head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leocod.evaluation.continual import presence_table
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.history import History
from leocod.evaluation.metrics.fwt import FWT

NAN = float("nan")


def a_history(
    start: list[float], table: list[list[float]], steps: tuple[int, ...], seen: dict[int, list[int]], length: int
) -> History:
    presence = presence_table(seen, steps=length, classes=len(start))
    rows = np.array(table).reshape(-1, len(start))
    return History(tuple("abcdef"[: len(start)]), steps, rows, presence, presence, start=np.array(start))


def test_on_a_stream_of_tasks_of_one_class_each_it_is_that_of_gem() -> None:
    # Task i is class i, of two steps, evaluated at its end. R is the table, b the start.
    start, table = [1.0, 2.0, 3.0], [[60.0, 10.0, 5.0], [40.0, 70.0, 20.0], [30.0, 75.0, 80.0]]
    history = a_history(start, table, (1, 3, 5), {0: [0], 1: [0], 2: [1], 3: [1], 4: [2], 5: [2]}, 6)

    result = FWT().compute(history)

    r, b = np.array(table), np.array(start)
    assert result == pytest.approx(np.mean(np.diag(r, k=1) - b[1:]))
    assert result == pytest.approx(((10 - 2) + (20 - 3)) / 2)


def test_the_last_evaluation_before_a_class_comes_counts_and_that_of_its_own_step_does_not() -> None:
    # It comes at step 2; there is an evaluation after step 2 itself.
    history = a_history([4.0], [[5.0], [9.0], [90.0]], (0, 1, 2), {2: [0]}, 3)

    assert FWT().compute(history) == pytest.approx(5.0)


def test_a_class_that_comes_again_counts_once_when_it_first_comes() -> None:
    history = a_history([4.0], [[5.0], [60.0], [70.0]], (0, 2, 4), {1: [0], 3: [0]}, 5)

    assert FWT().compute(history) == pytest.approx(1.0)


def test_classes_that_come_early_or_never_or_have_no_test_box_are_left_out() -> None:
    start, table = [0.0, 10.0, 20.0, NAN], [[50.0, 13.0, 90.0, NAN], [60.0, 70.0, 95.0, NAN]]
    # The first comes before the first evaluation, the third never.
    history = a_history(start, table, (0, 1), {0: [0], 1: [1, 3]}, 2)

    assert FWT().compute(history) == pytest.approx(3.0)


def test_presence_is_by_the_definitions() -> None:
    history = a_history([0.0], [[5.0], [7.0], [9.0]], (0, 1, 2), {1: [0]}, 3)
    later = presence_table({2: [0]}, steps=3, classes=1)

    assert FWT().compute(replace(history, in_labels=later)) == pytest.approx(5.0)
    by_labels = replace(history, in_labels=later, definitions=Definitions(presence="labelled"))
    assert FWT().compute(by_labels) == pytest.approx(7.0)


def test_without_a_start_or_a_single_pass_or_an_evaluation_there_is_none() -> None:
    history = a_history([0.0], [[5.0], [7.0]], (0, 1), {1: [0]}, 2)

    assert FWT().compute(history) == pytest.approx(5.0)
    assert FWT().compute(replace(history, start=None)) is None
    assert FWT().compute(replace(history, single_pass=False)) is None
    assert FWT().compute(replace(history, evaluated_steps=(), table=np.zeros((0, 1)))) is None
