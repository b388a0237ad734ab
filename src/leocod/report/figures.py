"""Figures of one run or of several, as SVG to put into a page. Each takes runs and gives one picture, in two forms:
a wide one, and a narrow one with its own axes for a small screen. The page shows the one that fits."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from leocod.evaluation.continual import cap_over_time, forgetting_curve
from leocod.report.reading import Run, name_ap, name_last_seen

COLOURS = (
    *("#2f6db3", "#dd7a2c", "#2d9270", "#a54a86", "#8a7423", "#5f6670"),
    *("#c33c3c", "#38b1c4", "#d9a900", "#6a4fb3"),
)
"""One per run. Colour-blind readers can tell the first ones apart. There are enough for all strategies of the paper."""
MARKERS = "os^D"
"""When the colours are used up, the next marker tells runs apart."""

INK, PALE = "#2b2f36", "#b9c0ca"


@dataclass(frozen=True)
class Form:
    """The width that a figure is drawn for, and how much text fits into it."""

    name: Literal["wide", "narrow"]
    """A class in the page's style, which shows one form and hides the other."""
    width: float
    """Inches. The page scales a figure to its place, so this sets how large the lettering is beside the text."""
    longest_name: int = 28
    """Characters of a name beside the axes."""
    longest_label: int = 60
    """Characters of a name in a legend."""
    columns: int = 3
    """Of a legend."""
    smallest_text: float = 7.5
    """Points. On a screen of 400 pixels, 8 in the narrow form are 11 pixels."""
    most_ticks: int = 9
    """Of the horizontal axis."""


WIDE, HALF = Form("wide", 10.4), Form("wide", 5.2, columns=1)
NARROW = Form("narrow", 3.6, longest_name=16, longest_label=36, columns=1, smallest_text=8, most_ticks=5)

Draw = Callable[[Axes, Form], None]

LEGEND_ROW = 0.2
"""Inches. A legend stands above the axes, and the figure is so much higher for each of its rows."""

LOWEST_TOP = 10.0
"""Points. An axis of AP ends no lower, so that a difference does not look large only because it is enlarged."""

MANY_CLASSES = 40
"""From here on rows are drawn closer together."""
ROW, CROWDED_ROW = 0.24, 0.17
"""Inches."""

MOST_ROWS = 600
"""Classes, or bars, that are drawn: a picture cannot be higher. The numbers by class have all of them."""

LOOK: dict[Any, Any] = {
    "axes.edgecolor": "#9aa1ab",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "font.size": 9,
    "grid.color": "#e8eaed",
    "legend.fontsize": 9,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.color": INK,
    # A class may well be called "$5 note".
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw_forms(name: str, height: float, draw: Draw, *, form: Form = WIDE, labels: int = 0) -> Markup:
    """One pair of axes as two SVG elements: in this form, and narrow. `labels`: entries of a legend above the axes."""

    def draw_form(axes: Axes, form: Form) -> None:
        draw(axes, form)
        axes.locator_params(axis="x", nbins=form.most_ticks)

    return Markup("\n").join(
        draw_axes(name, height + LEGEND_ROW * -(-labels // one.columns), partial(draw_form, form=one), form=one)
        for one in (form, NARROW)
    )


def draw_axes(name: str, height: float, draw: Callable[[Axes], None], *, form: Form | None = None) -> Markup:
    """One pair of axes as an SVG element; without a form, for every screen."""
    return draw_figure(name, height, lambda figure: draw(figure.add_subplot()), form=form)


def draw_figure(name: str, height: float, draw: Callable[[Figure], None], *, form: Form | None = None) -> Markup:
    """A figure of any axes as an SVG element. `name` is what a screen reader says, and keeps ids apart on a page."""
    width, kind = (form.width, form.name) if form else (WIDE.width, "every")
    with matplotlib.rc_context():
        # Not as a matplotlibrc in the current directory has it: that may be anyone's, and could call LaTeX on a name.
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**LOOK, "svg.hashsalt": f"{kind} {name}"})
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        target = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with warnings.catch_warnings():
            # A name in a script that the font lacks is text in the page all the same; the browser has the letters.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support .* natively")
            figure.savefig(target, format="svg", transparent=True, dpi=150, metadata=nothing)
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    # Numbered ids (text_1, axes_1) repeat in every figure of a page, and nothing refers to them.
    svg = re.sub(r'(<\w+) id="[A-Za-z0-9.]+_\d+"', r"\1", svg)
    opening = Markup('<svg class="{}" role="img" aria-label="{}" ').format(kind, name)
    return Markup(svg.replace("<svg ", opening, 1))


def pick_colour(number: int) -> str:
    """The colour of a run by its place on the page."""
    return COLOURS[number % len(COLOURS)]


def style_line(number: int) -> dict[str, Any]:
    """How the line of a run is drawn, by its place on the page."""
    return {"color": pick_colour(number), "linewidth": 2, "marker": MARKERS[number // len(COLOURS) % len(MARKERS)]}


def draw_precision_over_time(runs: Sequence[Run]) -> Markup:
    """Mean AP after each evaluation; for a single run also each class, thin."""

    def draw(axes: Axes, form: Form) -> None:
        for number, run in enumerate(runs):
            learnt = np.array(run.evaluated_steps) + 1
            table = run.table
            if run.history.start is not None:
                learnt, table = np.array([0, *learnt]), np.vstack([run.history.start, table])
            if len(runs) == 1:
                for category in list_tested_classes(run):
                    axes.plot(learnt, table[:, category], color=PALE, linewidth=0.7, gid=f"class-{category}")
            axes.plot(learnt, cap_over_time(table), **style_line(number), markersize=4)
        top = max(LOWEST_TOP, axes.get_ylim()[1])
        axes.set(xlabel="steps learnt", ylabel=f"{name_ap(runs)} (points)", ylim=(0, top))
        axes.set_xlim(left=0)
        if len(runs) > 1:
            put_legend(axes, axes.lines, [run.name for run in runs], form)
        else:
            axes.legend(axes.lines[-1:] + axes.lines[:1], ["mean over classes", "one class each"], loc="upper left")

    labels = len(runs) if len(runs) > 1 else 0
    return name_classes(draw_forms(f"{name_ap(runs)} over time", 3.2, draw, labels=labels), runs[0].classes)


def name_classes(svg: Markup, classes: Sequence[str]) -> Markup:
    """Let each line of a class say its name where somebody points at it, or near it: it is thin."""

    def name(found: re.Match[str]) -> str:
        title = Markup("<title>{}</title>").format(classes[int(found["number"])])
        return f'<g class="class">{title}{found["path"]}<path class="near" d="{found["places"]}"/>'

    line = r'<g id="class-(?P<number>\d+)">\s*(?P<path><path d="(?P<places>[^"]*)"[^>]*/>)'
    return Markup(re.sub(line, name, svg))


def draw_heat_map(run: Run, highest: float, *, form: Form = WIDE) -> Markup:
    """AP of each class over time, with an orange bar wherever the class was in the training stream."""
    tested = list_tested_classes(run)[:MOST_ROWS]
    edges = np.array([0, *(step + 1 for step in run.evaluated_steps)])
    is_crowded = len(tested) > MANY_CLASSES

    def draw(axes: Axes, form: Form) -> None:
        rows = np.arange(len(tested) + 1)
        # As pixels: a hundred classes over thousands of steps would be ten thousand shapes and more.
        mesh = axes.pcolormesh(
            edges, rows, run.table[:, tested].T, cmap="YlGnBu", vmin=0, vmax=highest, rasterized=True
        )
        for row, category in enumerate(tested):
            seen = find_spans(run.presence[: edges[-1], category])
            axes.broken_barh(seen, (row + 0.78, 0.16), facecolor="#e8590c", rasterized=True)
            axes.axhline(row, color="white", linewidth=1)
        names = [shorten_name(run.classes[category], form.longest_name) for category in tested]
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
        bar.set_label(f"{name_ap([run])} (points)")
        bar.outline.set_visible(False)

    height = 1.3 + (CROWDED_ROW if is_crowded else ROW) * len(tested)
    return draw_forms(f"{name_ap([run])} by class over time, {run.name}", height, draw, form=form)


def draw_bars(
    name: str,
    groups: Sequence[str],
    values: NDArray[np.float64],
    label: str,
    *,
    runs: Sequence[Run],
    lowest_top: float = 0.1,
) -> Markup:
    """Horizontal bars, one group after another from the top; `values` is runs x groups, NaN for no bar."""
    thickness = 0.8 / len(runs)

    def draw(axes: Axes, form: Form) -> None:
        for number, row in enumerate(values):
            places = np.arange(len(groups)) + (number - (len(runs) - 1) / 2) * thickness
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
        if len(runs) > 1:
            put_legend(axes, axes.containers, [run.name for run in runs], form)

    crowd = max(ROW if len(groups) <= MANY_CLASSES else CROWDED_ROW, CROWDED_ROW * len(runs))
    return draw_forms(name, 0.7 + crowd * len(groups), draw, labels=len(runs) if len(runs) > 1 else 0)


def draw_precision_when_away(runs: Sequence[Run]) -> Markup:
    """AP against steps since the class was last seen: the mean, and for a single run every evaluation as a dot."""
    shown = [(number, run) for number, run in enumerate(runs) if run.can_forget]

    def draw(axes: Axes, form: Form) -> None:
        for number, run in shown:
            away, precision = forgetting_curve(run.table, run.evaluated_steps, run.history.presence)
            if len(runs) == 1:
                axes.plot(away, precision, ".", color=PALE, markersize=4, alpha=0.7, rasterized=True)
            axes.plot(*average_neighbours(away, precision), **style_line(number), markersize=4)
        axes.set(xlabel=f"steps since the class was last {name_last_seen(runs)}", ylabel=f"{name_ap(runs)} (points)")
        axes.set_ylim(0, max(LOWEST_TOP, axes.get_ylim()[1]))
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        if len(runs) > 1:
            put_legend(axes, axes.lines, [run.name for _, run in shown], form)
        else:
            axes.legend(axes.lines[::-1], ["mean", "one class at one evaluation"], loc="upper right")

    labels = len(shown) if len(runs) > 1 else 0
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


def shorten_name(name: str, longest: int = WIDE.longest_name) -> str:
    """A name that leaves room for the figure beside it."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def find_spans(present: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Unbroken stretches of presence as (start, length)."""
    padded = np.concatenate([[False], present, [False]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
    return [(float(start), float(end - start)) for start, end in zip(starts, ends, strict=True)]


def list_tested_classes(run: Run) -> list[int]:
    """Classes with a test box."""
    return np.flatnonzero(~np.isnan(run.table).all(axis=0)).tolist() if len(run.table) else []


def put_legend(axes: Axes, handles: Sequence[Any], labels: Sequence[str], form: Form = WIDE) -> None:
    """A legend above the axes. The space before a name keeps matplotlib from hiding one that begins with `_`."""
    axes.legend(
        handles,
        [f" {shorten_name(label, form.longest_label)}" for label in labels],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=form.columns,
        borderaxespad=0.2,
    )
