"""Backward transfer on tables small enough to check in one's head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leocod.evaluation.continual import presence_table
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.history import History
from leocod.evaluation.metrics.bwt import BWT

NAN = float("nan")


def a_history(table: list[list[float]], steps: tuple[int, ...], seen: dict[int, list[int]], length: int) -> History:
    rows = np.array(table)
    presence = presence_table(seen, steps=length, classes=rows.shape[1])
    return History(tuple("abcdef"[: rows.shape[1]]), steps, rows, presence, presence)


def test_on_a_stream_of_tasks_of_one_class_each_it_is_that_of_gem() -> None:
    # Task i is class i, of two steps, evaluated at its end. R is the table.
    table = [[60.0, 10.0, 5.0], [40.0, 70.0, 20.0], [30.0, 75.0, 80.0]]
    history = a_history(table, (1, 3, 5), {0: [0], 1: [0], 2: [1], 3: [1], 4: [2], 5: [2]}, 6)

    result = BWT().compute(history)

    r = np.array(table)
    assert result == pytest.approx(np.mean(r[-1, :-1] - np.diag(r)[:-1]))
    assert result == pytest.approx(((30 - 60) + (75 - 70)) / 2)


def test_a_class_that_comes_again_is_learnt_when_it_was_there_last() -> None:
    # There at 0 and at 2; evaluated after each step. From 50 after step 2 to 20 after step 4.
    history = a_history([[90.0], [10.0], [50.0], [30.0], [20.0]], (0, 1, 2, 3, 4), {0: [0], 2: [0]}, 5)

    assert BWT().compute(history) == pytest.approx(-30.0)


def test_the_first_evaluation_after_the_last_presence_counts_also_when_it_is_late() -> None:
    # There at step 1 for the last time; the next evaluation comes after step 3.
    history = a_history([[90.0], [50.0], [45.0]], (0, 3, 5), {0: [0], 1: [0]}, 6)

    assert BWT().compute(history) == pytest.approx(-5.0)


def test_classes_that_stay_to_the_end_or_never_come_or_have_no_test_box_are_left_out() -> None:
    table = [[50.0, 10.0, 80.0, NAN], [40.0, 90.0, 90.0, NAN], [30.0, 99.0, 5.0, NAN]]
    # The second is there at the end, the third never, the fourth only at first.
    history = a_history(table, (0, 1, 2), {0: [0, 3], 2: [1]}, 3)

    assert BWT().compute(history) == pytest.approx(-20.0)


def test_presence_after_the_last_evaluation_leaves_a_class_out() -> None:
    assert BWT().compute(a_history([[50.0], [40.0]], (0, 1), {0: [0], 3: [0]}, 4)) is None


def test_presence_is_by_the_definitions() -> None:
    history = a_history([[50.0], [40.0], [10.0]], (0, 1, 2), {0: [0]}, 3)
    later = presence_table({0: [0], 1: [0]}, steps=3, classes=1)

    assert BWT().compute(replace(history, in_labels=later)) == pytest.approx(-40.0)
    by_labels = replace(history, in_labels=later, definitions=Definitions(presence="labelled"))
    assert BWT().compute(by_labels) == pytest.approx(-30.0)


def test_without_a_single_pass_or_an_evaluation_there_is_none() -> None:
    history = a_history([[50.0], [40.0]], (0, 1), {0: [0]}, 2)

    assert BWT().compute(history) == pytest.approx(-10.0)
    assert BWT().compute(replace(history, single_pass=False)) is None
    assert BWT().compute(replace(history, evaluated_steps=(), table=np.zeros((0, 1)))) is None
