"""The figure above a table: where every row stands, and how far from the row that it is compared with."""

from __future__ import annotations

from functools import partial

from markupsafe import Markup
from matplotlib.axes import Axes

from leocod.paper.columns import find_column
from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.table import Row
from leocod.report.drawing import COLOURS, INK, PALE, WIDE, Form, draw_axes, draw_forms, shorten_name

HELP = (
    "Small dots are runs, large ones their mean. A bar is the 95 % interval of the difference to the row that a row "
    "stands under, and the upright mark is that row: where the bar does not reach the mark, the two differ."
)
ROW, MARGIN = 0.24, 0.6
"""Inches: the height of a row, and of what stands below all rows."""
LONGEST = 54
"""Characters of a row's name in the wide form."""


def draw_rows(outcome: Outcome, *, alone: bool = False) -> Markup | None:
    """The first metric of every row that has been run; None where none has. `alone`: for a file, not for a page."""
    rows = [row for row in outcome.rows.values() if row.values(outcome.table.metrics[0])]
    if not rows:
        return None
    column = find_column(outcome.table.metrics[0])

    def draw(axes: Axes, form: Form) -> None:
        for height, row in enumerate(rows):
            _draw_row(axes, outcome, row, height)
        axes.set_yticks(range(len(rows)), [_name(row.row, form) for row in rows])
        axes.set(xlabel=f"{column.label} (points)", ylim=(len(rows) - 0.5, -0.5))
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)

    name, height = f"{column.label} of every row", MARGIN + ROW * len(rows)
    return draw_axes(name, height, partial(draw, form=WIDE)) if alone else draw_forms(name, height, draw)


def _draw_row(axes: Axes, outcome: Outcome, row: RowRuns, height: int) -> None:
    metric = outcome.table.metrics[0]
    values, middle = list(row.values(metric).values()), row.mean(metric) or 0.0
    colour = COLOURS[1] if row.row.over else COLOURS[0]
    difference = outcome.difference(row.row, metric)
    if difference is not None and difference.interval is not None:
        low, high = difference.interval
        # Not `middle - difference.mean`: the difference is over the runs that both rows have.
        base = outcome.rows[row.row.over or ""].mean(metric) or 0.0
        axes.plot([base + low, base + high], [height, height], color=PALE, linewidth=5, solid_capstyle="butt")
        axes.plot([base, base], [height - 0.35, height + 0.35], color=INK, linewidth=1)
    axes.plot(values, [height] * len(values), "o", color=colour, markersize=3, alpha=0.5, markeredgewidth=0)
    axes.plot([middle], [height], "o", color=colour, markersize=6)


def _name(row: Row, form: Form) -> str:
    """A small screen has room for the key only."""
    return f"{shorten_name(row.title, LONGEST)}, {row.cost}" if form.name == "wide" else shorten_name(row.key, 20)
