"""Figures of one kind of run or of several. Each takes kinds and gives one picture, in two forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from leocod.evaluation.continual import cap_over_time, forgetting_curve
from leocod.report.drawing import PALE, WIDE, Form, draw_forms, pick_colour, put_legend, shorten_name, style_line
from leocod.report.kinds import Kind, average_known, list_runs
from leocod.report.reading import Run, name_ap, name_last_seen

LOWEST_TOP = 10.0
"""Points. An axis of AP ends no lower, so that a difference does not look large only because it is enlarged."""

MANY_CLASSES = 40
"""From here on rows are drawn closer together."""
ROW, CROWDED_ROW = 0.24, 0.17
"""Inches."""

MOST_ROWS = 600
"""Classes, or bars, that are drawn: a picture cannot be higher. The numbers by class have all of them."""


def draw_precision_over_time(kinds: Sequence[Kind]) -> Markup:
    """Mean AP after each evaluation, with a band of the spread over seeds; of one kind also each class, thin."""
    ap = name_ap(list_runs(kinds))

    def draw(axes: Axes, form: Form) -> None:
        lines = [_draw_kind_over_time(axes, kind, number) for number, kind in enumerate(kinds)]
        of_classes = _draw_classes_over_time(axes, kinds[0]) if len(kinds) == 1 else []
        top = max(LOWEST_TOP, axes.get_ylim()[1])
        axes.set(xlabel="steps learnt", ylabel=f"{ap} (points)", ylim=(0, top))
        axes.set_xlim(left=0)
        if len(kinds) > 1:
            put_legend(axes, lines, [kind.name for kind in kinds], form)
        else:
            axes.legend(lines + of_classes[:1], ["mean over classes", "one class each"], loc="upper left")

    labels = len(kinds) if len(kinds) > 1 else 0
    return name_classes(draw_forms(f"{ap} over time", 3.2, draw, labels=labels), kinds[0].classes)


def _draw_kind_over_time(axes: Axes, kind: Kind, number: int) -> Line2D:
    learnt, means = np.array(kind.evaluated_steps) + 1, kind.means_over_time
    if kind.starts is not None:
        learnt, means = np.array([0, *learnt]), np.column_stack([cap_over_time(kind.starts), means])
    mean = average_known(means)
    (line,) = axes.plot(learnt, mean, **style_line(number), markersize=4)
    if not kind.is_single:
        spread = np.std(means, axis=0, ddof=1)
        axes.fill_between(learnt, mean - spread, mean + spread, color=pick_colour(number), alpha=0.18, linewidth=0)
    return line


def _draw_classes_over_time(axes: Axes, kind: Kind) -> list[Line2D]:
    learnt, table = np.array(kind.evaluated_steps) + 1, kind.table
    if kind.starts is not None:
        learnt, table = np.array([0, *learnt]), np.vstack([average_known(kind.starts), table])
    thin: dict[str, Any] = {"color": PALE, "linewidth": 0.7, "zorder": 1.5}
    return [
        axes.plot(learnt, table[:, category], gid=f"class-{category}", **thin)[0]
        for category in list_tested_classes(kind)
    ]


def name_classes(svg: Markup, classes: Sequence[str]) -> Markup:
    """Let each line of a class say its name where somebody points at it, or near it: it is thin."""

    def name(found: re.Match[str]) -> str:
        title = Markup("<title>{}</title>").format(classes[int(found["number"])])
        return f'<g class="class">{title}{found["path"]}<path class="near" d="{found["places"]}"/>'

    line = r'<g id="class-(?P<number>\d+)">\s*(?P<path><path d="(?P<places>[^"]*)"[^>]*/>)'
    return Markup(re.sub(line, name, svg))


def draw_heat_map(kind: Kind, highest: float, *, form: Form = WIDE) -> Markup:
    """AP of each class over time, with an orange bar wherever the class was in the training stream.

    Each seed may have another stream, so the mean over several has no bars.
    """
    tested = list_tested_classes(kind)[:MOST_ROWS]
    edges = np.array([0, *(step + 1 for step in kind.evaluated_steps)])
    ap = name_ap(kind.runs)
    is_crowded = len(tested) > MANY_CLASSES

    def draw(axes: Axes, form: Form) -> None:
        rows = np.arange(len(tested) + 1)
        # As pixels: a hundred classes over thousands of steps would be ten thousand shapes and more.
        mesh = axes.pcolormesh(
            edges, rows, kind.table[:, tested].T, cmap="YlGnBu", vmin=0, vmax=highest, rasterized=True
        )
        for row, category in enumerate(tested):
            if kind.is_single:
                seen = find_spans(kind.first.presence[: edges[-1], category])
                axes.broken_barh(seen, (row + 0.78, 0.16), facecolor="#e8590c", rasterized=True)
            axes.axhline(row, color="white", linewidth=1)
        names = [shorten_name(kind.classes[category], form.longest_name) for category in tested]
        axes.set_yticks(rows[:-1] + 0.5, names, fontsize=form.smallest_text if is_crowded else 9)
        axes.set(xlabel="steps learnt", ylim=(len(tested), 0), xlim=(0, edges[-1]))
        axes.grid(visible=False)
        axes.tick_params(axis="y", length=0)
        axes.spines[:].set_visible(False)
        bar = axes.figure.colorbar(
            mesh,
            ax=axes,
            location="top",
            shrink=4 / form.width if form.width > 4 else 1,
            aspect=30,
            pad=0.02,
            anchor=(0.0, 0.0),
        )
        bar.set_label(f"{ap} (points)")
        bar.outline.set_visible(False)

    height = 1.3 + (CROWDED_ROW if is_crowded else ROW) * len(tested)
    return draw_forms(f"{ap} by class over time, {kind.name}", height, draw, form=form)


def draw_bars(
    name: str,
    groups: Sequence[str],
    values: NDArray[np.float64],
    label: str,
    *,
    kinds: Sequence[str],
    lowest_top: float = 0.1,
) -> Markup:
    """Horizontal bars, one group after another from the top; `values` is kinds x groups, NaN for no bar."""
    thickness = 0.8 / len(kinds)

    def draw(axes: Axes, form: Form) -> None:
        for number, row in enumerate(values):
            places = np.arange(len(groups)) + (number - (len(kinds) - 1) / 2) * thickness
            axes.barh(places, np.nan_to_num(row), thickness * 0.9, color=pick_colour(number))
            for place, value in zip(places, row, strict=True):
                text = "none" if np.isnan(value) else f"{value:.1f}"
                axes.annotate(
                    text, (np.nan_to_num(value), place), (3, 0), textcoords="offset points", va="center", fontsize=8
                )
        axes.set_yticks(np.arange(len(groups)), [shorten_name(group, form.longest_name) for group in groups])
        axes.set(xlabel=label, ylim=(len(groups) - 0.4, -0.6))
        # Room for the number behind the longest bar, which takes more of a narrow figure.
        room = 1 + 0.85 / form.width
        axes.set_xlim(0, max(room * float(np.nan_to_num(values).max()), lowest_top))
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        axes.tick_params(axis="y", length=0)
        if len(kinds) > 1:
            put_legend(axes, axes.containers, kinds, form)

    crowd = max(ROW if len(groups) <= MANY_CLASSES else CROWDED_ROW, CROWDED_ROW * len(kinds))
    return draw_forms(name, 0.7 + crowd * len(groups), draw, labels=len(kinds) if len(kinds) > 1 else 0)


def draw_precision_when_away(kinds: Sequence[Kind]) -> Markup:
    """AP against steps since the class was last seen: the mean, and of one kind every evaluation as a dot."""
    shown, runs = [(number, kind) for number, kind in enumerate(kinds) if kind.can_forget], list_runs(kinds)

    def draw(axes: Axes, form: Form) -> None:
        for number, kind in shown:
            curves = [
                forgetting_curve(run.table, run.evaluated_steps, run.history.presence)
                for run in kind.runs
                if run.can_forget
            ]
            away, precision = (np.concatenate(parts) for parts in zip(*curves, strict=True))
            if len(kinds) == 1:
                axes.plot(away, precision, ".", color=PALE, markersize=4, alpha=0.7, rasterized=True)
            axes.plot(*average_neighbours(away, precision), **style_line(number), markersize=4)
        axes.set(xlabel=f"steps since the class was last {name_last_seen(runs)}", ylabel=f"{name_ap(runs)} (points)")
        axes.set_ylim(0, max(LOWEST_TOP, axes.get_ylim()[1]))
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        if len(kinds) > 1:
            put_legend(axes, axes.lines, [kind.name for _, kind in shown], form)
        else:
            axes.legend(axes.lines[::-1], ["mean", "one class at one evaluation"], loc="upper right")

    labels = len(shown) if len(kinds) > 1 else 0
    return draw_forms(f"{name_ap(runs)} against steps since last seen", 3.0, draw, labels=labels)


def average_neighbours(
    k: NDArray[np.int64], values: NDArray[np.float64], groups: int = 12
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean k and mean value of groups of neighbouring k, with about as many values in each; equal k stay together."""
    edges = np.unique(np.quantile(k, np.linspace(0, 1, groups + 1))) if len(k) else np.zeros(0)
    members = np.searchsorted(edges, k, side="left")
    present = np.unique(members)
    return (
        np.array([k[members == group].mean() for group in present]),
        np.array([values[members == group].mean() for group in present]),
    )


def find_spans(present: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Unbroken stretches of presence as (start, length)."""
    padded = np.concatenate([[False], present, [False]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
    return [(float(start), float(end - start)) for start, end in zip(starts, ends, strict=True)]


def list_tested_classes(tested: Run | Kind) -> list[int]:
    """Classes with a test box."""
    table = tested.table
    return np.flatnonzero(~np.isnan(table).all(axis=0)).tolist() if len(table) else []
