"""What was measured, and what counts as present."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leocod.evaluation.definitions import Definitions
from leocod.evaluation.history import History

IN_STREAM, IN_LABELS = np.array([[True], [True]]), np.array([[True], [False]])
HISTORY = History(("mug",), (1,), np.array([[50.0]]), IN_STREAM, IN_LABELS)


def test_presence_is_by_the_definitions() -> None:
    assert HISTORY.presence is IN_STREAM
    assert replace(HISTORY, definitions=Definitions(presence="labelled")).presence is IN_LABELS


def test_a_run_has_measured_its_evaluations_and_what_it_was_asked_for() -> None:
    row = np.array([10.0])

    assert HISTORY.measured == {"every evaluation", "last evaluation"}
    assert replace(HISTORY, start=row).measured - HISTORY.measured == {"start"}
    assert replace(HISTORY, prequential=row).measured - HISTORY.measured == {"prequential"}


def test_evaluations_that_were_not_kept_were_not_measured() -> None:
    assert replace(HISTORY, lost_steps=(0,)).measured == {"last evaluation"}
    assert replace(HISTORY, lost_steps=(2,)).measured == set()


def test_without_an_evaluation_there_is_none_to_miss() -> None:
    nothing = replace(HISTORY, evaluated_steps=(), table=np.zeros((0, 1)))

    assert nothing.measured == {"every evaluation", "last evaluation"}
