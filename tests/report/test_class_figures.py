"""Figures by class, whose means over classes are the figures of the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leocod.evaluation.metrics.forgetting import compute_by_class
from leocod.report.class_figures import measure_by_class
from leocod.report.reading import Run


def test_the_means_over_classes_are_those_of_the_evaluations(a_run: Callable[..., Path]) -> None:
    run = Run.load(a_run())

    by_class = measure_by_class(run.results, lambda: run.history)

    assert "never tested" not in by_class["fap"]
    assert np.mean(list(by_class["fap"].values())) == pytest.approx(run.results.evaluations[-1].ap)
    assert np.mean(list(by_class["cap"].values())) == pytest.approx(
        np.mean([one.ap for one in run.results.evaluations])
    )
    assert np.mean(list(by_class["forgetting"].values())) == pytest.approx(np.nanmean(compute_by_class(run.history)))


def test_without_a_history_there_is_no_forgetting_by_class(a_run: Callable[..., Path]) -> None:
    run = Run.load(a_run())

    assert list(measure_by_class(run.results, lambda: None)) == ["fap", "cap"]
