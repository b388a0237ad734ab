"""How much better one kind is than another, and why two kinds cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leocod.evaluation.intervals import Difference, Interval
from leocod.report.comparison import compare, explain_obstacle, judge
from leocod.report.kinds import Kind, group_runs
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def load_kind(a_run: MakeRun, name: str, seeds: int = 1, **changed: Any) -> Kind:
    runs = [Run.load(a_run(f"{name}-seed{seed}", seed=seed, **changed)) for seed in range(seeds)]
    return group_runs(runs)[0]


@pytest.mark.parametrize(
    ("by_seed", "interval", "verdict"),
    [
        ((2.0, 2.2), Interval(0.4, 3.8), "better by 2.1 (0.4 to 3.8), 2 seeds"),
        ((-2.0, -2.2), Interval(-3.8, -0.4), "worse by 2.1 (0.4 to 3.8), 2 seeds"),
        ((-0.5, 1.0), Interval(-1.0, 1.5), "undecided: better by 0.2 (−1.0 to 1.5), 2 seeds"),
        ((0.5, -1.0), Interval(-1.5, 1.0), "undecided: worse by 0.2 (−1.0 to 1.5), 2 seeds"),
        ((1.0,), None, "better by 1.0, one seed: no interval"),
        ((0.0,), None, "no difference, one seed: no interval"),
        ((0.5, -0.5), Interval(-6.4, 6.4), "undecided: no difference (−6.4 to 6.4), 2 seeds"),
    ],
)
def test_a_verdict_is_in_plain_words(by_seed: tuple[float, ...], interval: Interval | None, verdict: str) -> None:
    assert judge(Difference(by_seed, interval)) == verdict


def test_where_lower_is_better_a_lower_figure_is_better(a_run: MakeRun) -> None:
    base = load_kind(a_run, "base", scores={"forgetting": 5.0})
    other = load_kind(a_run, "other", scores={"forgetting": 3.0}, strategy="gdumb")

    difference = compare(other, base, "forgetting", base.first.results.words("forgetting"))

    assert difference is not None
    assert difference.by_run == (2.0,)


def test_classes_that_gain_differently_widen_the_interval(a_run: MakeRun) -> None:
    """The same difference of FAP at each seed: over seeds alone the interval would be a point."""
    base = load_kind(a_run, "base", seeds=3, scores={"fap": 30.0})
    uneven = load_kind(a_run, "uneven", seeds=3, scores={"fap": 32.0}, level=70.0, strategy="gdumb")
    last = base.first.results.evaluations[-1].ap_by_class
    for run in uneven.runs:
        evaluation = run.results.evaluations[-1]
        evaluation.ap_by_class.update(
            {name: None if ap is None else ap + 4 * (name == "mug") for name, ap in last.items()}
        )

    difference = compare(uneven, base, "fap", base.first.results.words("fap"))

    assert difference is not None
    assert difference.interval is not None
    assert difference.interval.low < 2.0 < difference.interval.high


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"benchmark": "oak"}, "benchmark oak, not wander"),
        ({"steps": 61}, "61 steps, not 60"),
        ({"definitions": {"ap": "voc"}}, "other metrics"),
    ],
)
def test_what_was_not_put_to_the_same_test_is_not_compared(
    changed: dict[str, Any], reason: str | None, a_run: MakeRun
) -> None:
    base, other = load_kind(a_run, "base"), load_kind(a_run, "other", strategy="gdumb", **changed)

    assert explain_obstacle(other, base) == reason


def move_a_test_box(path: Path) -> Path:
    test = json.loads((path / "test.json").read_text())
    test["annotations"][0]["bbox"][0] += 1
    (path / "test.json").write_text(json.dumps(test))
    return path


def test_other_test_frames_are_noticed_at_a_seed_that_both_have(a_run: MakeRun) -> None:
    base = load_kind(a_run, "base")
    same_seed, other_seed = (
        group_runs([Run.load(move_a_test_box(a_run(f"moved{seed}", seed=seed)))])[0] for seed in (0, 1)
    )

    assert explain_obstacle(same_seed, base) == "other test frames"
    # Another seed may well have another world.
    assert explain_obstacle(other_seed, base) is None


def test_without_stored_test_frames_nobody_can_tell(a_run: MakeRun) -> None:
    base, path = load_kind(a_run, "base"), a_run("other")
    (path / "test.json").unlink()

    assert explain_obstacle(group_runs([Run.load(path)])[0], base) is None


def test_kinds_that_were_evaluated_at_other_times_do_not_compare(a_run: MakeRun) -> None:
    """CAP and forgetfulness are means over evaluations: the times alone would make a difference."""
    base, path = load_kind(a_run, "base"), a_run("other", strategy="gdumb")
    results = json.loads((path / "results.json").read_text())
    results["evaluations"].pop(0)
    (path / "results.json").write_text(json.dumps(results))

    assert explain_obstacle(group_runs([Run.load(path)])[0], base) == "evaluated after other steps"
