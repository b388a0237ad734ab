"""Metrics are found by name, and computed where what they need was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from leocod.errors import InvalidConfig, UnknownName
from leocod.evaluation.history import History
from leocod.evaluation.metrics.base import METRICS, compute_metrics, find_metrics, list_shipped, or_none
from leocod.evaluation.metrics.fap import FAP

HISTORY = History(("mug",), (0,), np.array([[50.0]]), np.ones((1, 1), bool), np.ones((1, 1), bool))


def test_all_files_are_shipped_and_those_of_the_paper_come_first() -> None:
    assert set(list_shipped()) == set(METRICS.names())
    assert list_shipped()[:3] == ("fap", "cap", "forgetting")


def test_a_name_is_a_metric() -> None:
    (metric,) = find_metrics(["fap"])

    assert isinstance(metric, FAP)


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="No metric 'fapp'. Did you mean 'fap'"):
        find_metrics(["fapp"])


def test_two_metrics_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="Two metrics are called 'fap'"):
        find_metrics(["fap", "cap", "leocod.evaluation.metrics.fap:FAP"])


def test_a_class_that_does_not_say_how_to_show_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half.py").write_text("class Half:\n    name = 'half'\n    def compute(self, history): ...\n")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(InvalidConfig, match="'half:Half' is not a metric: it has no `label`"):
        find_metrics(["half:Half"])


def test_what_was_not_measured_is_left_out_and_what_is_undefined_is_none() -> None:
    metrics = find_metrics(["fap", "fwt", "forgetting"])

    assert compute_metrics(metrics, HISTORY) == {"fap": 50.0, "forgetting": None}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, np.float64("nan")])
def test_what_is_no_number_is_no_value(value: Any) -> None:
    class Odd(FAP):
        name: ClassVar[str] = "odd"

        def compute(self, history: History) -> float | None:
            return value

    assert compute_metrics([Odd()], HISTORY) == {"odd": None}
    assert or_none(value) is None


def test_a_value_is_a_plain_number() -> None:
    assert type(or_none(np.float64(1.5))) is float
