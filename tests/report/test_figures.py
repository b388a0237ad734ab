"""What lies behind the lines of the figures, and that they are drawn as text a page can hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from markupsafe import Markup, escape

from leocod.evaluation.results import Results
from leocod.report.figures import (
    average_neighbours,
    draw_bars,
    draw_heat_map,
    draw_precision_over_time,
    draw_precision_when_away,
    find_spans,
)
from leocod.report.kinds import Kind, group_runs
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def load_kind(path: Path) -> Kind:
    """A single run."""
    return group_runs([Run.load(path)])[0]


def test_spans_are_unbroken_stretches() -> None:
    assert find_spans(np.array([True, True, False, True])) == [(0.0, 2.0), (3.0, 1.0)]
    assert find_spans(np.zeros(3, bool)) == []


def test_equal_times_away_are_averaged_together() -> None:
    k, values = average_neighbours(np.array([0, 0, 5, 5]), np.array([10.0, 20.0, 4.0, 6.0]))

    assert k.tolist() == [0, 5]
    assert values.tolist() == [15, 5]


def test_averages_of_nothing_are_nothing() -> None:
    k, values = average_neighbours(np.zeros(0, np.int64), np.zeros(0))

    assert (len(k), len(values)) == (0, 0)


def test_time_away_counts_as_the_metrics_of_the_run_say(a_run: MakeRun) -> None:
    usual, by_labels = Run.load(a_run("usual")), Run.load(a_run("by labels", definitions={"presence": "labelled"}))
    as_if_labels_were_all = replace(usual, present=usual.labelled)

    svg = draw_precision_when_away(group_runs([by_labels])).replace("in a label", "in the training stream")

    assert svg == draw_precision_when_away(group_runs([as_if_labels_were_all]))
    assert svg != draw_precision_when_away(group_runs([usual]))


def test_names_are_text_and_escaped(a_run: MakeRun) -> None:
    svg = draw_heat_map(load_kind(a_run()), 60.0)

    assert svg.startswith("<svg ")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in svg
    assert "$5 &amp; $10 note" in svg
    assert "never tested" not in svg


def test_a_name_that_begins_with_an_underscore_is_in_the_legend() -> None:
    kinds = ["_hidden", "plain"]

    svg = draw_bars("Bars", ["mug"], np.array([[1.0], [np.nan]]), "points", kinds=kinds)

    assert "_hidden" in svg
    assert ">none</text>" in svg


def test_settings_from_elsewhere_change_no_figure(whole_run: Path) -> None:
    run = load_kind(whole_run)
    elsewhere: dict[Any, Any] = {"text.usetex": True, "svg.image_inline": False, "text.parse_math": True}

    expected = draw_heat_map(run, 60.0)
    # As from a matplotlibrc in the current directory, which matplotlib reads by itself.
    with matplotlib.rc_context(elsewhere):
        given = draw_heat_map(run, 60.0)
        left = matplotlib.rcParams["text.usetex"]

    assert given == expected
    assert left is True


def test_only_so_many_classes_are_drawn(whole_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leocod.report.figures.MOST_ROWS", 2)

    svg = draw_heat_map(load_kind(whole_run), 60.0)

    assert ">laptop</text>" in svg
    assert ">plant</text>" not in svg


def test_a_long_name_is_shortened_in_the_legend() -> None:
    svg = draw_bars("Bars", ["mug"], np.array([[1.0], [2.0]]), "points", kinds=["y" * 200, "plain"])

    assert f"{'y' * 59}…" in svg
    assert "y" * 60 not in svg


def test_a_thin_line_says_of_which_class_it_is(a_run):
    run = load_kind(a_run())

    svg = split_forms(draw_precision_over_time([run]))["wide"]

    names = re.findall(r'<g class="class"><title>(.*?)</title><path d="[^"]+"', svg)
    assert names == [str(escape(name)) for name in run.classes[:-1]]
    assert 'id="class-' not in draw_precision_over_time([run, run])


def test_what_was_known_before_the_first_step_is_drawn_at_step_0(a_run):
    run = Run.load(a_run())
    start = {"ap": 5.0, "ap_by_class": dict.fromkeys(run.classes, 5.0)}
    known = replace(run, results=Results.model_validate(run.results.model_dump() | {"start": start}))

    points = [
        re.findall(r'class="near" d="([^"]+)"', draw_precision_over_time(group_runs([one])))[0] for one in (run, known)
    ]

    assert points[1].count("L") == points[0].count("L") + 1


def split_forms(figures: Markup) -> dict[str, str]:
    """Both forms of a figure."""
    return {name: svg for svg in re.split(r"(?<=</svg>)", figures) for name in re.findall(r'<svg class="(\w+)"', svg)}


def test_a_narrow_figure_is_drawn_anew_and_its_lettering_is_large_enough(a_run):
    kinds = [load_kind(a_run("a run with quite a long name")), load_kind(a_run("another"))]
    values = np.arange(100.0).reshape(2, 50)

    for figures in (
        *(draw_precision_over_time(kinds), draw_precision_when_away(kinds), draw_heat_map(kinds[0], 60.0)),
        draw_bars("Bars", [f"a long name {number}" for number in range(50)], values, "points", kinds=["one", "two"]),
    ):
        forms = split_forms(figures)
        assert list(forms) == ["wide", "narrow"]
        width = {name: float(re.findall(r'viewBox="0 0 ([\d.]+)', svg)[0]) for name, svg in forms.items()}
        lettering = {float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", forms["narrow"])}
        # The page is 16 pixels narrower than the screen on both sides.
        pixels = min(lettering) * (400 - 2 * 16) / width["narrow"]
        assert width["wide"] > 2 * width["narrow"]
        assert pixels > 11


def test_a_narrow_figure_has_fewer_ticks(whole_run: Path) -> None:
    forms = split_forms(draw_precision_when_away([load_kind(whole_run)]))

    ticks = {name: len(re.findall(r">\d+</text>", svg)) for name, svg in forms.items()}

    assert 4 < ticks["narrow"] < ticks["wide"]


def test_a_name_that_is_too_long_for_a_narrow_figure_is_shortened_in_it_only() -> None:
    name = "a class with a long name"

    forms = split_forms(draw_bars("Bars", [name], np.array([[1.0]]), "points", kinds=["one"]))

    assert f">{name}</text>" in forms["wide"]
    assert f">{name}</text>" not in forms["narrow"]
    assert ">a class with a …</text>" in forms["narrow"]


def test_several_seeds_are_a_line_with_a_band(a_run: MakeRun) -> None:
    runs = [Run.load(a_run(f"run-seed{seed}", seed=seed, level=60.0 + 5 * seed)) for seed in range(3)]
    single, several = group_runs(runs[:1]), group_runs(runs)

    assert "fill-opacity: 0.18" not in draw_precision_over_time(single)
    assert "fill-opacity: 0.18" in draw_precision_over_time(several)


def test_the_mean_over_seeds_has_no_bars_of_one_stream(a_run: MakeRun) -> None:
    runs = [Run.load(a_run(f"run-seed{seed}", seed=seed)) for seed in range(2)]
    single, several = group_runs(runs[:1])[0], group_runs(runs)[0]

    # The same values, so that only the bars can differ.
    np.testing.assert_array_equal(single.table, several.table)
    assert draw_heat_map(single, 60.0) != draw_heat_map(several, 60.0).replace(several.name, single.name)
