"""How any figure is drawn."""

from __future__ import annotations

import re

import pytest

from leocod.report.drawing import (
    COLOURS,
    NARROW,
    WIDE,
    draw_axes,
    draw_forms,
    put_legend,
    shorten_name,
    style_line,
)


def test_long_names_are_shortened() -> None:
    assert shorten_name("a mug") == "a mug"
    assert shorten_name("m" * 40) == "m" * 27 + "…"


def test_the_same_figure_is_drawn_the_same() -> None:
    pictures = [draw_axes("A line", 2.0, lambda axes: axes.set(xlabel="x")) for _ in range(2)]

    assert pictures[0] == pictures[1]
    assert 'aria-label="A line"' in pictures[0]


def test_many_kinds_are_told_apart() -> None:
    lines = [style_line(number) for number in range(4 * len(COLOURS))]

    assert len(COLOURS) >= 9
    assert len({(one["color"], one["marker"]) for one in lines}) == len(lines)


def test_a_figure_is_higher_for_each_row_of_its_legend() -> None:
    names = ["one", "two", "three", "four"]

    figures = draw_forms(
        "A line", 2.0, lambda axes, form: put_legend(axes, axes.plot([[1] * 4]), names, form), labels=4
    )

    # In points: two rows of three in the wide form, four of one in the narrow one.
    heights = [float(height) for height in re.findall(r'height="([\d.]+)pt"', figures)]
    assert heights == pytest.approx([72 * (2 + 2 * 0.2), 72 * (2 + 4 * 0.2)])
    assert (WIDE.columns, NARROW.columns) == (3, 1)
