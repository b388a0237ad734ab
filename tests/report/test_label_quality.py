"""What lies behind the curves and the sums of pseudo labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.events import ClassCounts
from leocod.report.kinds import group_runs
from leocod.report.label_quality import draw_curves, list_totals, measure_quality
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def test_counts_are_added_up_before_dividing(a_run: MakeRun) -> None:
    run = Run.load(a_run())

    steps, precision, recall = measure_quality(run.audits, windows=2)

    # Right ones per step: 4 to 8 in the first half of the stream, six steps each; 15 given, 28 to be found.
    assert steps == [15.0, 45.0]
    assert precision[0] == pytest.approx(100 * (4 + 5 + 6 + 7 + 8) / 5 / 15)
    assert recall[0] == pytest.approx(100 * (4 + 5 + 6 + 7 + 8) / 5 / 28)


def test_a_window_without_pseudo_labels_has_no_precision(a_run: MakeRun) -> None:
    path = a_run()
    events = path / "events.jsonl"
    events.write_text(events.read_text().replace('"labels": 15, "right": 4', '"labels": 0, "right": 0'))

    _, precision, recall = measure_quality(Run.load(path).audits)

    assert np.isnan(precision[0])
    assert recall[0] == 0.0


def count_by_class(path: Path, by_class: dict[str, list[int]], known: list[str] | None) -> Path:
    """Write the run anew as a version that counts by class: every step with these counts."""
    lines = [json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()]
    for line in lines:
        if line["event"] == "RunStarted":
            line["known_classes"] = known
        if line["event"] == "StepLearned":
            line["audit"]["by_class"] = by_class
    (path / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_known_and_new_classes_are_measured_apart(a_run: MakeRun) -> None:
    run = Run.load(count_by_class(a_run(), {"0": [10, 5, 20], "1": [5, 0, 8]}, ["mug"]))

    known, new = (measure_quality(run.audits_by_group[name], windows=1) for name in ("known", "new"))

    assert run.audits[0].by_class == {0: ClassCounts(10, 5, 20), 1: ClassCounts(5, 0, 8)}
    assert known == ([30.0], [50.0], [25.0])
    assert new == ([30.0], [0.0], [0.0])
    assert [heading for heading, _ in draw_curves(group_runs([run]))] == ["All classes", "Known classes", "New classes"]


@pytest.mark.parametrize(("by_class", "known"), [(None, ["mug"]), ({"0": [10, 5, 20]}, None)])
def test_without_groups_there_is_one_figure(
    a_run: MakeRun, by_class: dict[str, list[int]] | None, known: list[str] | None
) -> None:
    run = Run.load(count_by_class(a_run(), by_class, known))  # type: ignore[arg-type]

    assert run.audits_by_group == {}
    assert [heading for heading, _ in draw_curves(group_runs([run]))] == [""]


def test_a_run_that_knows_is_drawn_beside_one_that_does_not(a_run: MakeRun) -> None:
    runs = [Run.load(a_run("old")), Run.load(count_by_class(a_run("young"), {"0": [10, 5, 20]}, ["mug"]))]

    # Nothing was counted of new classes, and an empty figure is none.
    whole, known = (svg for _, svg in draw_curves(group_runs(runs)))

    assert "old: precision" in whole
    assert "old: precision" not in known
    assert "young: recall" in known


def test_a_class_that_is_not_there_is_named(a_run: MakeRun) -> None:
    with pytest.raises(InvalidRun, match="class 77, but the run has 6 classes"):
        Run.load(count_by_class(a_run(), {"77": [1, 0, 0]}, None))


def test_the_sums_are_those_of_the_results(a_run: MakeRun) -> None:
    def counts(frames: int, labels: int, right: int, objects: int) -> dict[str, int]:
        return {"frames": frames, "labels": labels, "right": right, "objects": objects}

    added_up: dict[str, Any] = {
        "pseudo_label_counts": counts(9, 8, 4, 16),
        "pseudo_label_groups": {"known": counts(9, 8, 4, 10), "new": counts(9, 0, 0, 6)},
        "pseudo_label_check": {"labels": 3, "right": 2},
    }

    rows = list_totals(group_runs([Run.load(a_run("a", **added_up)), Run.load(a_run("none", pseudo=False))]))

    assert rows == (
        ("a", "all", 9, 8, 4, 16, "50.0 %", "25.0 %"),
        ("a", "known to the starting weights", 9, 8, 4, 10, "50.0 %", "40.0 %"),
        ("a", "new", 9, 0, 0, 6, "–", "0.0 %"),
        ("a", "all, on labelled frames", "–", 3, 2, "–", "66.7 %", "–"),
    )


def test_sums_that_the_results_lack_are_those_of_the_events(a_run: MakeRun) -> None:
    run = Run.load(a_run("a"))

    assert list_totals(group_runs([run])) == (
        ("a", "all", 14 * 60, 15 * 60, run.audit.right, 28 * 60, "56.0 %", "30.0 %"),
    )


def test_the_counts_of_several_seeds_are_added_up(a_run: MakeRun) -> None:
    runs = [
        Run.load(a_run(f"run-seed{seed}", seed=seed, pseudo_label_check={"labels": 8, "right": 6})) for seed in range(2)
    ]

    whole, checked = list_totals(group_runs(runs))

    right = 2 * runs[0].audit.right
    assert whole == ("run", "all", 2 * 14 * 60, 2 * 15 * 60, right, 2 * 28 * 60, "56.0 %", "30.0 %")
    assert checked == ("run", "all, on labelled frames", "–", 16, 12, "–", "75.0 %", "–")
