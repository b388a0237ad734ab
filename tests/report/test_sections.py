"""Each section shows something, or says why it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from leocod.evaluation.results import Results
from leocod.report.kinds import group_runs
from leocod.report.reading import Run
from leocod.report.sections import (
    make_sections,
    show_classes,
    show_classes_over_time,
    show_earlier_tests,
    show_errors,
    show_pseudo_labels,
    show_time_away,
)

MakeRun = Callable[..., Path]


def test_a_complete_run_fills_every_section(a_run: MakeRun) -> None:
    for section in make_sections(group_runs([Run.load(a_run())]), []):
        assert section.missing is None
        assert len(section.figures) == 1 or section.tables


def test_each_run_has_a_heat_map_under_its_name(a_run: MakeRun) -> None:
    runs = [Run.load(a_run("one")), Run.load(a_run("two"))]

    assert [heading for heading, _ in show_classes_over_time(group_runs(runs)).figures] == ["one", "two"]


def test_a_section_is_drawn_when_one_of_the_runs_can_fill_it(a_run: MakeRun) -> None:
    empty, full = Run.load(a_run("empty", pseudo=False, scores={"forgetting": None})), Run.load(a_run("full"))

    for section in (show_pseudo_labels, show_time_away):
        assert section(group_runs([empty])).missing
        assert section(group_runs([empty, full])).missing is None


def test_what_was_lost_on_earlier_test_frames_is_shown_where_they_were_tried_again(a_run: MakeRun) -> None:
    run = Run.load(a_run("garden"))
    before = {"ap": 41.26, "ap_by_class": {"mug": 41.26, "dog": None}}
    after = {"step": 8, "ap": 38.0, "ap_by_class": {"mug": 38.0, "dog": None}}
    content = run.results.model_dump() | {"also": {"kitchen": {"start": before, "evaluations": [after]}}}

    (section,) = show_earlier_tests(group_runs([replace(run, results=Results.model_validate(content))]))

    assert section.tables[0].rows == (("garden", "kitchen", "41.3", "38.0"),)
    assert section.tables[1].rows == (("mug", "41.3", "38.0"), ("dog", "–", "–"))
    assert show_earlier_tests(group_runs([run])) == []


def test_classes_are_ordered_by_the_first_run(a_run: MakeRun) -> None:
    run = Run.load(a_run())
    last = run.results.evaluations[-1].ap_by_class
    best = max((name for name in last if last[name] is not None), key=lambda name: last[name] or 0.0)

    svg = show_classes(group_runs([run])).figures[0][1]

    assert best == "laptop"
    assert svg.index(">laptop<") < svg.index(">mug<")


def test_classes_beyond_those_that_are_drawn_are_counted(a_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leocod.report.figures.MOST_ROWS", 4)
    runs = [Run.load(a_run("one")), Run.load(a_run("two"))]

    section = show_classes(group_runs(runs))

    assert section.note.endswith(" Drawn are the first 2 of 5 classes; the numbers by class have all.")
    assert ">laptop<" in section.figures[0][1]
    assert ">mug<" not in section.figures[0][1]


def test_counts_of_errors_are_added_up_over_seeds(a_run: MakeRun) -> None:
    runs = [Run.load(a_run(f"run-seed{seed}", seed=seed)) for seed in range(2)]

    total, by_class = show_errors(group_runs(runs)).tables

    assert total.rows == (("run", 4, 2, 2, 2, 0, 0, 0),)
    assert by_class.rows[0] == ("mug", 2, 2, 0, 0, 0, 0, 0)
