"""The pictures of concepts/metrics.md: each metric on a made-up run of two classes, with the value of leocod.

python docs/site/metric_pictures.py        (again after a change of this file or of a metric)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from leocod import METRICS, History
from leocod.evaluation.continual import presence_table

FOLDER = Path(__file__).parents[1] / "pictures" / "metrics"
GREY, MUG, BENCH, MARK = "#808080", "#2a78c0", "#d95f0e", "#1a9850"
"""Colours that can be read on a light and on a dark page."""
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "leocod",
    "font.family": "sans-serif",
    "font.size": 10,
    **dict.fromkeys(["text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"], GREY),
}

MUG_STEPS, BENCH_STEPS = range(40), range(60, 100)
HISTORY = History(
    classes=("mug", "bench"),
    evaluated_steps=(19, 39, 59, 79, 99),
    table=np.array([[50.0, 10.0], [70.0, 12.0], [55.0, 20.0], [50.0, 55.0], [40.0, 70.0]]),
    in_stream=presence_table({step: [int(step >= 60)] for step in (*MUG_STEPS, *BENCH_STEPS)}, steps=100, classes=2),
    in_labels=np.zeros((100, 2), np.bool_),
    start=np.array([30.0, 5.0]),
    prequential=np.array([48.0, 36.0]),
)


def draw(name: str) -> Figure:
    """The picture of one metric."""
    metric = METRICS.find(name)()
    figure = Figure(figsize=(6.4, 2.9), layout="constrained")
    axes = figure.subplots()
    MARKS[name](axes)
    axes.set_title(f"{metric.label} = {metric.compute(HISTORY):.1f}", loc="left", color=MARK, weight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_history(axes: Axes) -> None:
    """AP of both classes over time; the bars below say when each is there."""
    for column, (label, color, there) in enumerate([("mug", MUG, MUG_STEPS), ("bench", BENCH, BENCH_STEPS)]):
        axes.plot(np.array(HISTORY.evaluated_steps) + 1, HISTORY.table[:, column], "o-", color=color, label=label)
        axes.barh(-8 - 8 * column, len(there), left=there.start, height=5, color=color, alpha=0.7)
    axes.text(41, -8, "mug is away", va="center", fontsize=8)
    axes.text(58, -16, "bench has not come", va="center", ha="right", fontsize=8)
    axes.set(xlim=(0, 104), ylim=(-21, 80), xlabel="steps learnt", ylabel="AP50", yticks=[0, 20, 40, 60, 80])
    axes.legend(frameon=False, loc="upper left", ncols=2)


def _mark_last(axes: Axes) -> None:
    _draw_history(axes)
    axes.axvspan(97, 103, color=MARK, alpha=0.2)
    axes.plot([97, 103], [HISTORY.table[-1].mean()] * 2, color=MARK, linewidth=3)


def _mark_all(axes: Axes) -> None:
    _draw_history(axes)
    steps, means = np.array(HISTORY.evaluated_steps) + 1, HISTORY.table.mean(axis=1)
    axes.plot(steps, means, "s", color=MARK)
    axes.axhline(means.mean(), color=MARK, linewidth=2)


def _mark_times_away(axes: Axes) -> None:
    away, means = np.array([0, 20, 40, 60]), np.array([60.0, 55.0, 50.0, 40.0])
    axes.plot(away, means, "o-", color=MUG, label="mug")
    axes.axhline(means[0], color=MARK, linestyle=":")
    axes.vlines(away[1:], means[1:], means[0], color=MARK, linewidth=away[1:] / 8)
    axes.set(xlabel="k: steps since the mug was last there", ylabel="aCAP", ylim=(0, 80), xlim=(-3, 66))
    axes.text(64, 64, "a thicker line weighs more", color=MARK, fontsize=8, ha="right")
    axes.legend(frameon=False, loc="lower left")


def _mark_change(axes: Axes, step: int, before: float, after: float, after_step: int) -> None:
    """An arrow from the AP before to the AP after."""
    axes.plot([step, after_step], [before, before], color=MARK, linestyle=":")
    arrow = {"arrowstyle": "->", "color": MARK, "linewidth": 2}
    axes.annotate("", (after_step, after), (after_step, before), arrowprops=arrow)


def _mark_backward(axes: Axes) -> None:
    _draw_history(axes)
    _mark_change(axes, 40, before=70, after=40, after_step=100)


def _mark_forward(axes: Axes) -> None:
    _draw_history(axes)
    axes.plot([0], [5], "D", color=BENCH, clip_on=False)
    _mark_change(axes, 0, before=5, after=20, after_step=60)


def _mark_frames(axes: Axes) -> None:
    assert HISTORY.prequential is not None
    axes.barh(["mug", "bench"], HISTORY.prequential, color=[MUG, BENCH], height=0.5)
    axes.axvline(HISTORY.prequential.mean(), color=MARK, linewidth=2)
    axes.set(xlabel="AP50 in the frames of every step, each found before its step is learnt", xlim=(0, 80))
    axes.invert_yaxis()


MARKS: dict[str, Callable[[Axes], None]] = {
    "fap": _mark_last,
    "cap": _mark_all,
    "forgetting": _mark_times_away,
    "bwt": _mark_backward,
    "fwt": _mark_forward,
    "prequential": _mark_frames,
}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in MARKS:
        with mpl.rc_context(STYLE):
            draw(name).savefig(FOLDER / f"{name}.svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
