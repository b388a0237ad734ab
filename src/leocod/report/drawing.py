"""How a figure is drawn, whatever is in it: as SVG to put into a page, in two forms. A wide one, and a narrow one with
its own axes for a small screen; the page shows the one that fits."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

COLOURS = (
    *("#2f6db3", "#dd7a2c", "#2d9270", "#a54a86", "#8a7423", "#5f6670"),
    *("#c33c3c", "#38b1c4", "#d9a900", "#6a4fb3"),
)
"""One per kind. Colour-blind readers can tell the first ones apart. Enough for all strategies of the paper."""
MARKERS = "os^D"
"""When the colours are used up, the next marker tells kinds apart."""

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


def make_standalone(svg: Markup) -> str:
    """A drawing of the page as a file for a publication, with a white background."""
    opening, _, rest = str(svg).partition(">")
    white = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n{opening}>\n{white}{rest.rstrip()}\n'


def pick_colour(number: int) -> str:
    """The colour of a kind by its place on the page."""
    return COLOURS[number % len(COLOURS)]


def style_line(number: int) -> dict[str, Any]:
    """How the line of a kind is drawn, by its place on the page."""
    return {"color": pick_colour(number), "linewidth": 2, "marker": MARKERS[number // len(COLOURS) % len(MARKERS)]}


def shorten_name(name: str, longest: int = WIDE.longest_name) -> str:
    """A name that leaves room for the figure beside it."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


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
