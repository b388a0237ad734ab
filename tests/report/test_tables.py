from collections.abc import Callable
from pathlib import Path

import numpy as np

from leocod.report.reading import Run
from leocod.report.tables import list_class_rows, list_memory_rows


def test_every_class_has_a_row_with_its_last_and_best_ap(a_run: Callable[..., Path]) -> None:
    run = Run.load(a_run())

    rows = list_class_rows(run)

    assert [row["name"] for row in rows] == list(run.classes)
    np.testing.assert_equal([row["last"] for row in rows], run.table[-1])
    np.testing.assert_equal([row["best"] for row in rows], run.table.max(axis=0))
    assert [row["steps"] for row in rows] == run.presence.sum(axis=0).tolist()


def test_a_class_that_only_one_memory_holds_is_none_for_the_other(a_run: Callable[..., Path]) -> None:
    run = Run.load(a_run())
    assert run.memory is not None

    rows = list_memory_rows([run, run])

    assert {name: held[0] for name, held in rows} == dict(run.memory.by_class)
    assert all(held[0] == held[1] for _, held in rows)
