"""The figure under a table: AP over time of every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup
from matplotlib.axes import Axes

from leocod.paper.details import OverTime
from leocod.paper.outcome import Outcome, RowRuns, mean
from leocod.report.drawing import WIDE, Form, draw_forms, put_legend, style_line
from leocod.report.figures import LOWEST_TOP

FORM = replace(WIDE, columns=4)


def draw_rows_over_time(outcome: Outcome) -> Markup | None:
    """The mean AP over classes after each evaluation, mean over the runs of a row; None where no run tells."""
    lines = {key: average_over_time(row) for key, row in outcome.rows.items()}
    known = {key: line for key, line in lines.items() if line}
    if not known:
        return None

    def draw(axes: Axes, form: Form) -> None:
        for number, line in enumerate(known.values()):
            axes.plot(list(line), list(line.values()), **style_line(number), markersize=4)
        axes.set(xlabel="steps learnt", ylabel="AP (points)")
        axes.set_ylim(0, max(LOWEST_TOP, axes.get_ylim()[1]))
        axes.set_xlim(left=0)
        put_legend(axes, axes.lines, list(known), form)

    return draw_forms("AP over time of every row", 4.0, draw, form=FORM, labels=len(known))


def average_over_time(row: RowRuns) -> OverTime:
    """Mean over the runs of a row, at the steps after which all of them were evaluated."""
    runs: Sequence[OverTime] = [record.over_time for record in row.records.values() if record.over_time]
    shared = [steps for steps in runs[0] if all(steps in run for run in runs)] if runs else []
    return {steps: mean([run[steps] for run in runs]) or 0.0 for steps in sorted(shared)}
