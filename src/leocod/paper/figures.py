"""The paper's figures, from the finished cells: bars over annotation cost, AP50 over time, pseudo labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from leocod.errors import UnknownName
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.paper.columns import find_column
from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.plan import Plan
from leocod.paper.table import Row, Table
from leocod.paper.writing import format_numbers, read_records, write_files
from leocod.report.drawing import INK, draw_figure, make_standalone, shorten_name
from leocod.report.figures import LOWEST_TOP, find_spans, list_tested_classes
from leocod.report.page import Section, render_template
from leocod.report.pictures import Picture, make_pictures
from leocod.report.reading import Run, name_ap

BARE, WHOLE, NAIVE = "icarl at 25 %", "icarl+ecls at 25 %", "naive"
"""Rows whose runs are shown in detail: the strategy alone, with Efficient-CLS, and with pseudo labels of its own."""

WORDS = {BARE: "iCaRL alone", WHOLE: "iCaRL with Efficient-CLS", NAIVE: "iCaRL with naive pseudo labels"}

BLUE, RED, GREY = "#2f6db3", "#c33c3c", "#8b929c"
"""As in the paper: the strategy alone, with Efficient-CLS, and the steps in which a class is in the stream."""

LINES: dict[str, dict[str, Any]] = {
    BARE: {"color": BLUE, "marker": "o", "markersize": 3},
    WHOLE: {"color": RED, "marker": "s", "markersize": 3},
}

BAR = 0.38
"""Width of a bar, of the distance between two annotation costs."""

EACH, COLUMNS = 2, 3
"""Rare, middling and frequent classes that are drawn when none are chosen; columns of their figure."""

RULE = (
    "Nobody has chosen the classes; of those that are in the stream and in the test, they are the "
    f"{EACH} that the stream shows in the fewest steps, {EACH} in the middle, and the {EACH} that it shows in the most."
)

SideBySide = tuple[str, Picture, Picture]
"""The name of a frame; the frame with naive pseudo labels, and with those of Efficient-CLS."""


def write_figures(plan: Plan, table: Table, classes: Sequence[str] = ()) -> list[Path]:
    """Write a page with every figure that the finished cells allow, and each drawing as a file. Returns the files.

    `classes`: those whose AP50 is drawn over time; if empty, a rule chooses.
    """
    outcome, runs = Outcome.read(plan, table), load_example_runs(plan, table)
    sections = {"bars": build_bars_section(outcome), "over-time": build_over_time_section(runs, classes)}
    content = format_numbers(plan, outcome, read_records(plan, table))
    content[f"{table.name}.html"] = render_page(plan, table, list(sections.values()), runs)
    for name, section in sections.items():
        content |= {f"figure-{name}.svg": make_standalone(svg) for _, svg in section.figures}
    return write_files(plan, content)


def load_example_runs(plan: Plan, table: Table) -> dict[str, Run]:
    """The runs that are shown in detail, by their rows: the first seed, where its run has finished."""
    first = {key: plan.cells_of(table, table.row(key))[0] for key in WORDS}
    return {key: Run.load(cell.path) for key, cell in first.items() if cell.results is not None}


def render_page(plan: Plan, table: Table, sections: Sequence[Section], runs: Mapping[str, Run]) -> str:
    """All figures in one HTML file that needs nothing else."""
    shown = [key for key in (NAIVE, WHOLE) if key in runs]
    return render_template(
        Path(__file__).parent / "figures_page.html.j2",
        title=table.title,
        about=f"{table.in_paper} of the paper on {plan.benchmark}.",
        sections=sections,
        whose=_describe_runs(runs),
        frames=pair_pseudo_labels(runs),
        audits=[(WORDS[key], runs[key].audit) for key in shown],
        missing=_list_missing(WORDS[key] for key in (NAIVE, WHOLE) if key not in runs),
    )


def build_bars_section(outcome: Outcome) -> Section:
    """FAP, CAP and F over annotation cost."""
    title = "FAP, CAP and F over annotation cost (Figures 4 and S1)"
    note = (
        "Blue: the strategy alone. Red: with Efficient-CLS. Annotation cost: labelled frames of all frames. Mean over "
        "seeds; where there are several, the whiskers reach one standard deviation to each side."
    )
    rows = [outcome.rows[row.key] for pairs in pair_by_cost(outcome.table).values() for pair in pairs for row in pair]
    if not any(row.runs for row in rows):
        return Section(title, note, missing="None of it has been run yet.")
    return Section(title, f"{note}{_describe_gaps(rows)}", (("", draw_bars(outcome)),))


def pair_by_cost(table: Table) -> dict[str, list[tuple[Row, Row]]]:
    """Strategy -> its row alone and with Efficient-CLS at each annotation cost, the lowest cost first."""
    by_strategy: dict[str, list[tuple[Row, Row]]] = {}
    for row in table.rows:
        if row.plug_in == "whole" and row.over and not row.diagnosis:
            by_strategy.setdefault(row.strategy, []).append((table.row(row.over), row))
    return {strategy: sorted(pairs, key=lambda pair: pair[1].labels) for strategy, pairs in by_strategy.items()}


def draw_bars(outcome: Outcome) -> Markup:
    """A row of axes for each strategy, a column for each metric: the strategy alone and with Efficient-CLS."""
    strategies = list(pair_by_cost(outcome.table).values())

    def draw(figure: Figure) -> None:
        grid = figure.subplots(len(strategies), len(PAPER_METRICS), squeeze=False, sharey="col")
        for number, pairs in enumerate(strategies):
            for axes, metric in zip(grid[number], PAPER_METRICS, strict=True):
                _draw_metric(axes, metric, [tuple(outcome.rows[row.key] for row in pair) for pair in pairs])
            grid[number, 0].set_ylabel(f"{pairs[0][0].title}\npoints")
        for axes, metric in zip(grid[0], PAPER_METRICS, strict=True):
            axes.set_title(find_column(metric).heading, fontsize=10)
            low, high = axes.get_ylim()
            axes.set_ylim(low, max(high, low + LOWEST_TOP))
        for axes in grid[-1]:
            axes.set_xlabel("annotation cost")
        sides = [Patch(color=BLUE), Patch(color=RED)]
        figure.legend(sides, ["strategy alone", "with Efficient-CLS"], loc="outside upper left", ncols=2)

    return draw_figure("FAP, CAP and F over annotation cost", 0.7 + 1.75 * len(strategies), draw)


def _draw_metric(axes: Axes, metric: str, pairs: Sequence[tuple[RowRuns, ...]]) -> None:
    for place, pair in enumerate(pairs):
        for row, shift, colour in zip(pair, (-BAR / 2, BAR / 2), (BLUE, RED), strict=True):
            if (height := row.mean(metric)) is not None:
                whisker = {"ecolor": INK, "elinewidth": 1, "capsize": 2}
                axes.bar(place + shift, height, BAR, color=colour, yerr=row.spread(metric), error_kw=whisker)
            else:
                text = "none" if row.runs else "not run"
                across = axes.get_xaxis_transform()
                axes.text(place + shift, 0.03, text, transform=across, rotation=90, ha="center", fontsize=7, color=GREY)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xticks(range(len(pairs)), [pair[0].row.cost for pair in pairs], fontsize=8)
    axes.set_xlim(-0.6, len(pairs) - 0.4)
    axes.tick_params(axis="x", length=0)


def build_over_time_section(runs: Mapping[str, Run], names: Sequence[str] = ()) -> Section:
    """AP50 of some classes over time."""
    drawn = {key: runs[key] for key in (BARE, WHOLE) if key in runs}
    title = f"{name_ap(list(drawn.values())) or 'AP50'} of single classes over time (Figure 3)"
    missing = _list_missing(WORDS[key] for key in (BARE, WHOLE) if key not in runs)
    if not drawn:
        return Section(title, "", missing=missing)
    classes = choose_classes(drawn, names)
    note = (
        f"{_describe_runs(drawn)} On the whole test set, after each evaluation. "
        f"Grey: the class was in the training stream. {'' if names else RULE} {missing}"
    )
    if not classes:
        return Section(title, note, missing="No class was both in the stream and in the test.")
    return Section(title, " ".join(note.split()), (("", draw_over_time(drawn, classes)),))


def choose_classes(runs: Mapping[str, Run], names: Sequence[str] = ()) -> list[str]:
    """The classes of these names; without names some rare, some middling and some frequent ones.

    The rule does not look at the results: otherwise it could favour a winner.
    """
    known = dict.fromkeys(name for run in runs.values() for name in run.classes)
    for name in names:
        if name not in known:
            raise UnknownName("class", name, known)
    if names:
        return list(dict.fromkeys(names))
    run = next(iter(runs.values()))
    steps = run.presence.sum(axis=0)
    shown = sorted((number for number in list_tested_classes(run) if steps[number]), key=lambda number: steps[number])
    if len(shown) > 3 * EACH:
        middle = (len(shown) - EACH) // 2
        shown = [*shown[:EACH], *shown[middle : middle + EACH], *shown[-EACH:]]
    return [run.classes[number] for number in shown]


def draw_over_time(runs: Mapping[str, Run], classes: Sequence[str]) -> Markup:
    """Axes for each class: its AP50 after each evaluation, and below it the steps in which the stream shows it."""
    rows = -(-len(classes) // COLUMNS)
    end = max(len(run.presence) for run in runs.values())

    def draw(figure: Figure) -> None:
        grid = figure.subplots(rows, COLUMNS, squeeze=False, sharey=True)
        filled, empty = grid.flat[: len(classes)], grid.flat[len(classes) :]
        for axes, name in zip(filled, classes, strict=True):
            _draw_class(axes, name, runs)
            axes.set_xlim(0, 1.02 * end)
        for axes in empty:
            axes.set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel(f"{name_ap(list(runs.values()))} (points)")
        for axes in filled[-COLUMNS:]:
            axes.set_xlabel("steps learnt")
        top = max(LOWEST_TOP, grid[0, 0].get_ylim()[1])
        # Below zero there is room for the grey line only.
        grid[0, 0].set_ylim(-0.08 * top, top)
        sides = [*(Line2D([], [], **LINES[key]) for key in runs), Patch(color=GREY)]
        texts = [*(WORDS[key] for key in runs), "the class is in the stream"]
        figure.legend(sides, texts, loc="outside upper left", ncols=3)

    return draw_figure(f"{name_ap(list(runs.values()))} of single classes over time", 0.6 + 1.9 * rows, draw)


def _draw_class(axes: Axes, name: str, runs: Mapping[str, Run]) -> None:
    columns = {key: run.classes.index(name) for key, run in runs.items() if name in run.classes}
    for key, column in columns.items():
        axes.plot(np.array(runs[key].evaluated_steps) + 1, runs[key].table[:, column], **LINES[key])
    # The stream is the same for all.
    key, column = next(iter(columns.items()))
    present = runs[key].presence[:, column]
    axes.broken_barh(find_spans(present), (0, 0.05), transform=axes.get_xaxis_transform(), facecolor=GREY)
    untested = "" if column in list_tested_classes(runs[key]) else ", no test box"
    axes.set_title(
        f"{shorten_name(name)}: in {present.sum()} of {len(present)} steps{untested}", fontsize=9, loc="left"
    )


def pair_pseudo_labels(runs: Mapping[str, Run]) -> list[SideBySide]:
    """The frames that both runs have kept with their pseudo labels, naive ones and those of Efficient-CLS."""
    if NAIVE not in runs or WHOLE not in runs:
        return []
    kept = {
        key: {(sample.step, sample.frame): sample for sample in runs[key].samples if sample.kind == "pseudo"}
        for key in (NAIVE, WHOLE)
    }
    both = [place for place in kept[NAIVE] if place in kept[WHOLE]]
    naive, whole = (
        make_pictures(replace(runs[key], samples=tuple(kept[key][place] for place in both)), "pseudo")
        for key in (NAIVE, WHOLE)
    )
    return [
        (left.title, replace(left, title="naive"), replace(right, title="Efficient-CLS"))
        for left, right in zip(naive, whole, strict=True)
    ]


def _describe_runs(runs: Mapping[str, Run]) -> str:
    run = next(iter(runs.values()), None)
    return "" if run is None else f"At 25 % annotation cost, seed {run.results.seed}."


def _describe_gaps(rows: Sequence[RowRuns]) -> str:
    """How many bars are missing, and which rest on fewer runs: the figure does not show the latter."""
    missing = sum(not row.runs for row in rows)
    partly = [f"{row.row.key} ({len(row.runs)} of {row.expected})" for row in rows if 0 < len(row.runs) < row.expected]
    text = f" Not run yet: {missing} of {len(rows)} rows." if missing else ""
    return text + (f" Not with all seeds yet: {', '.join(partly)}." if partly else "")


def _list_missing(names: Iterable[str]) -> str:
    text = ", ".join(names)
    return f"Not run yet: {text}." if text else ""
