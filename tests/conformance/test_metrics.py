"""What every metric must hold to. A new file in evaluation/metrics/ is found by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
import pytest

from leocod.evaluation.definitions import Definitions
from leocod.evaluation.history import History
from leocod.evaluation.metrics.base import METRICS, Metric, compute_metrics, find_metrics
from leocod.evaluation.results import LONGEST, MetricWords

NAMES = [*METRICS.names(), "own_metric:WorstClass"]
"""All there are, and the one in examples/."""
MEASUREMENTS = {"every evaluation", "last evaluation", "start", "prequential"}

EVERY = 4


@pytest.fixture(params=NAMES)
def metric(request: pytest.FixtureRequest) -> Metric:
    return find_metrics([request.param])[0]


def a_history(seed: int = 0, *, classes: int = 6, evaluations: int = 5) -> History:
    """Classes that come and go, some late, some for good; the last one has no test box, and the one before no end."""
    random = np.random.default_rng(seed)
    steps = EVERY * evaluations
    presence = np.zeros((steps, classes), bool)
    for category in range(classes):
        begin = int(random.integers(0, max(steps // 2, 1)))
        presence[begin : begin + 3, category] = True
    presence[:, -2:-1] = True
    without_box = np.arange(classes) == classes - 1 if classes > 1 else np.zeros(1, bool)

    def ap(*shape: int) -> np.ndarray:
        return np.where(without_box, np.nan, random.uniform(0, 100, (*shape, classes)))

    return History(
        classes=tuple(f"class {number}" for number in range(classes)),
        evaluated_steps=tuple(range(EVERY - 1, steps, EVERY)),
        table=ap(evaluations),
        in_stream=presence,
        in_labels=presence & (random.random(presence.shape) < 0.7),
        start=ap(),
        prequential=ap(),
    )


def odd_histories() -> Iterator[tuple[str, History]]:
    usual = a_history()
    yield "one class", a_history(classes=1)
    yield "one evaluation", a_history(evaluations=1)
    yield "no evaluation", a_history(evaluations=0)
    yield "no step", replace(a_history(evaluations=0), start=None, prequential=None)
    nothing = np.full(usual.table.shape, np.nan)
    yield "no test box", replace(usual, table=nothing, start=nothing[0], prequential=nothing[0])
    yield "nothing present", replace(usual, in_stream=usual.in_stream & False, in_labels=usual.in_stream & False)
    yield "always present", replace(usual, in_stream=usual.in_stream | True, in_labels=usual.in_stream | True)
    yield "not a single pass", replace(usual, single_pass=False)
    yield "no start", replace(usual, start=None)
    yield "no prequential", replace(usual, prequential=None)
    yield (
        "other definitions",
        replace(
            usual, definitions=Definitions(ap="voc", forgetting_bins=3, forgetting_weights="oak", presence="labelled")
        ),
    )


ODD = dict(odd_histories())


def test_a_shipped_metric_is_called_as_its_file(metric: Metric) -> None:
    if type(metric).__module__.startswith("leocod."):
        assert type(metric).__module__ == f"leocod.evaluation.metrics.{metric.name}"


def test_it_says_what_it_is(metric: Metric) -> None:
    words = MetricWords.of(metric, Definitions())

    assert metric.name.isidentifier()
    assert words.label
    assert words.title
    assert words.unit
    assert "{" not in words.title
    assert len(f"{metric.label}{metric.title}{metric.undefined}") < LONGEST
    assert metric.direction in ("higher", "lower")
    assert metric.needs <= MEASUREMENTS
    assert type(metric).__doc__


def test_an_ordinary_run_has_a_value(metric: Metric) -> None:
    value = compute_metrics([metric], a_history())[metric.name]

    assert isinstance(value, float)


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_run_has_a_number_or_none(metric: Metric, kind: str) -> None:
    value = metric.compute(ODD[kind])

    assert value is None or np.isfinite(value)
    json.dumps(value, allow_nan=False)


def test_a_table_of_nothing_has_no_value(metric: Metric) -> None:
    assert metric.compute(ODD["no step"]) is None
    assert metric.compute(ODD["no test box"]) is None


def test_the_same_history_gives_the_same_value_and_is_left_as_it_was(metric: Metric) -> None:
    history, untouched = a_history(3), a_history(3)

    first, second = metric.compute(history), find_metrics([_name(metric)])[0].compute(history)

    assert first == second
    for field in fields(History):
        before, after = getattr(untouched, field.name), getattr(history, field.name)
        if isinstance(before, np.ndarray):
            np.testing.assert_array_equal(after, before)
        else:
            assert after == before


@pytest.mark.parametrize("need", sorted(MEASUREMENTS))
def test_it_does_without_what_it_does_not_say_that_it_needs(metric: Metric, need: str) -> None:
    history = a_history()
    without = {
        "start": replace(history, start=None),
        "prequential": replace(history, prequential=None),
        # Earlier evaluations are gone: the last one is all there is.
        "every evaluation": replace(history, evaluated_steps=history.evaluated_steps[-1:], table=history.table[-1:]),
        "last evaluation": replace(history, evaluated_steps=(), table=history.table[:0]),
    }
    needs = set(metric.needs) | ({"last evaluation"} if "every evaluation" in metric.needs else set())

    if need not in needs:
        assert metric.compute(without[need]) == metric.compute(history)


def test_the_order_of_the_classes_makes_no_difference(metric: Metric) -> None:
    history = a_history(1)
    order = np.random.default_rng(0).permutation(len(history.classes))
    assert history.start is not None
    assert history.prequential is not None

    shuffled = replace(
        history,
        classes=tuple(history.classes[number] for number in order),
        table=history.table[:, order],
        in_stream=history.in_stream[:, order],
        in_labels=history.in_labels[:, order],
        start=history.start[order],
        prequential=history.prequential[order],
    )

    assert metric.compute(shuffled) == pytest.approx(metric.compute(history))


def test_a_class_without_a_test_box_makes_no_difference(metric: Metric) -> None:
    history = a_history(2)
    assert history.start is not None
    assert history.prequential is not None

    without = replace(
        history,
        classes=history.classes[:-1],
        table=history.table[:, :-1],
        in_stream=history.in_stream[:, :-1],
        in_labels=history.in_labels[:, :-1],
        start=history.start[:-1],
        prequential=history.prequential[:-1],
    )

    assert metric.compute(without) == pytest.approx(metric.compute(history))


def test_the_better_run_is_better_in_its_direction(metric: Metric) -> None:
    """A learner that keeps what it has learnt, and one that forgets it, or has never learnt it."""
    history = a_history()
    away = np.cumsum(~history.in_stream, axis=0)[list(history.evaluated_steps)]
    zero = np.zeros(len(history.classes))
    good = replace(history, table=np.full(history.table.shape, 80.0), start=zero, prequential=zero + 80)
    bad = replace(history, table=np.maximum(0.0, 20.0 - away), start=zero + 30, prequential=zero + 10)

    better, worse = metric.compute(good), metric.compute(bad)

    assert better is not None
    assert worse is not None
    assert better > worse if metric.direction == "higher" else better < worse


def _name(metric: Metric) -> str:
    return f"{type(metric).__module__}:{type(metric).__name__}"
