"""The figures of a page in reading order, each with its words, or with the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from markupsafe import Markup

from leocod.evaluation.error_breakdown import LOWEST_SCORE, NEAR, RIGHT, ErrorCounts
from leocod.report import figures, label_quality
from leocod.report.page import format_points
from leocod.report.reading import Run, name_ap, name_last_seen


@dataclass(frozen=True)
class Grid:
    """A table. Under a heading, it is folded away."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    heading: str = ""


@dataclass(frozen=True)
class Section:
    """A title that says what is seen, how to read it, and what there is to see or why there is nothing."""

    title: str
    note: str
    figures: tuple[tuple[str, Markup], ...] = ()
    """Each with a heading of its own, which may be empty."""
    tables: tuple[Grid, ...] = ()
    missing: str | None = None


def make_sections(runs: Sequence[Run]) -> list[Section]:
    """Everything that is drawn, in reading order."""
    return [
        show_over_time(runs),
        show_classes_over_time(runs),
        show_classes(runs),
        show_errors(runs),
        show_time_away(runs),
        *show_earlier_tests(runs),
        show_pseudo_labels(runs),
        show_seconds(runs),
    ]


def show_over_time(runs: Sequence[Run]) -> Section:
    """Mean AP against steps."""
    title, note = f"{name_ap(runs)} over time", "On the whole test set, also on what the stream has not shown yet."
    if not any(run.results.evaluations for run in runs):
        return Section(title, note, missing="There was no evaluation.")
    if not any(figures.list_tested_classes(run) for run in runs):
        return Section(title, note, missing="No class has a test box.")
    if len(runs) == 1:
        note += " Point at a thin line to see which class it is."
    return Section(title, note, (("", figures.draw_precision_over_time(runs)),))


def show_classes_over_time(runs: Sequence[Run]) -> Section:
    """A heat map for each run."""
    title = "Each class over time"
    note = (
        f"Colour: {name_ap(runs)} at the evaluation that ends the cell. "
        "Orange bars: the class was in the training stream, as far as somebody has labelled it."
    )
    shown = [run for run in runs if figures.list_tested_classes(run)]
    if not shown:
        return Section(title, note, missing="No class has a test box.")
    highest = max(figures.LOWEST_TOP, 10.0 * float(np.ceil(max(np.nanmax(run.table) for run in shown) / 10)))
    form = figures.WIDE if len(shown) == 1 else figures.HALF
    return Section(
        title,
        note,
        tuple((run.name if len(runs) > 1 else "", figures.draw_heat_map(run, highest, form=form)) for run in shown),
    )


def show_classes(runs: Sequence[Run]) -> Section:
    """AP by class at the end, best class of the first run on top."""
    title, note = "Each class at the end", f"{name_ap(runs)} after the last step."
    last = [run.results.evaluations[-1].ap_by_class if run.results.evaluations else {} for run in runs]
    known = list(dict.fromkeys(name for by_class in last for name in by_class))
    names = [name for name in known if any(by_class.get(name) is not None for by_class in last)]
    if not names:
        return Section(title, note, missing="No class has a test box.")
    names.sort(key=lambda name: -(last[0].get(name) or 0.0))
    rows = [[by_class.get(name) for name in names] for by_class in last]
    values = np.array([[np.nan if value is None else value for value in row] for row in rows], np.float64)
    if len(names) < len(known):
        tested = set(names)
        note += f" Left out, having no test box: {', '.join(name for name in known if name not in tested)}."
    drawn = figures.MOST_ROWS // len(runs)
    if len(names) > drawn:
        note += f" Drawn are the first {drawn} of {len(names)} classes; the numbers by class have all."
        names, values = names[:drawn], values[:, :drawn]
    top = figures.LOWEST_TOP
    return Section(
        title,
        note,
        (("", figures.draw_bars(title, names, values, f"{name_ap(runs)} (points)", runs=runs, lowest_top=top)),),
    )


def show_errors(runs: Sequence[Run]) -> Section:
    """What is wrong with the detections at the end, by kind and class."""
    title = "What is wrong with the detections at the end"
    note = (
        f"In the test frames, detections with a score of at least {LOWEST_SCORE}; each kind of error after TIDE. Badly "
        f"placed: IoU {NEAR} to {RIGHT} with an object of its class. Wrong class: IoU at least {RIGHT} with an object "
        "of another class. Duplicate: the object was found already, with a higher score. Background: none of these. "
        "Missed: objects that nothing of the above is about. Detections count for the class that they say."
    )
    counted = [(run, counts) for run in runs if (counts := run.errors) is not None]
    if not counted:
        return Section(title, note, missing="The detections of the last evaluation were not kept.")
    kinds = tuple(field.name.replace("_", " ") for field in fields(ErrorCounts))
    total = Grid(("Run", *kinds), tuple((run.name, *counts.total.values()) for run, counts in counted))
    by_run = (
        Grid(
            ("Class", *kinds),
            tuple((name, *counts.of_class(number).values()) for number, name in enumerate(run.classes)),
            f"By class, {run.name}" if len(runs) > 1 else "By class",
        )
        for run, counts in counted
    )
    return Section(title, note, tables=(total, *by_run))


def show_time_away(runs: Sequence[Run]) -> Section:
    """The forgetfulness curve."""
    title = "What is left of a class that has been away"
    note = (
        f"{name_ap(runs)} against steps since the class was last {name_last_seen(runs)}. A falling line is forgetting."
    )
    if not any(run.can_forget for run in runs):
        return Section(title, note, missing="No forgetfulness: no class was evaluated after different times away.")
    return Section(title, note, (("", figures.draw_precision_when_away(runs)),))


def show_earlier_tests(runs: Sequence[Run]) -> list[Section]:
    """What the stream cost on the test frames of earlier runs; nothing where none were tried again."""
    tested = [(run, name, one) for run in runs for name, one in run.results.also.items()]
    if not tested:
        return []
    note = f"{name_ap(runs)} on test frames of an earlier run, before the first step and after the last one."
    total = Grid(
        ("Run", "On the test frames of", "Before", "After"),
        tuple(
            (run.name, name, format_points(one.start.ap), format_points(one.evaluations[-1].ap))
            for run, name, one in tested
        ),
    )
    by_class = (
        Grid(
            ("Class", "Before", "After"),
            tuple(
                (known, format_points(ap), format_points(one.evaluations[-1].ap_by_class.get(known)))
                for known, ap in one.start.ap_by_class.items()
            ),
            f"By class, {name}" + (f", {run.name}" if len(runs) > 1 else ""),
        )
        for run, name, one in tested
    )
    return [Section("What it cost on what was learnt before", note, tables=(total, *by_class))]


def show_pseudo_labels(runs: Sequence[Run]) -> Section:
    """How right the pseudo labels were."""
    title = "How right the pseudo labels were"
    checked = (
        "On labelled frames: what the labeller would have written there, by the person's labels; the run can tell this "
        "by itself."
    )
    note = (
        "Compared with the hidden truth: same class, IoU at least 0.5. Precision: how many of the labels were right. "
        "Recall: how many of the objects got a right one, over all unlabelled frames that the labeller looked at, also "
        "those that it left empty and those left out of training. A label counts for the class that it says. In the "
        f"curves, counts are added up over windows of steps. {checked}"
    )
    totals = Grid(label_quality.HEAD, label_quality.list_totals(runs))
    if not any(run.judged_audits for run in runs):
        given = any(run.audits for run in runs)
        nobody = "Nobody has labelled the frames that got pseudo labels, so nothing tells how right these are."
        if not given or not totals.rows:
            return Section(title, "", missing=nobody if given else "No pseudo labels were given.")
        return Section(title, f"{nobody} {checked}", tables=(totals,))
    return Section(title, note, label_quality.draw_curves(runs), (totals,))


def show_seconds(runs: Sequence[Run]) -> Section:
    """Seconds by part."""
    title, note = "Where the time went", "Wall-clock time by part."
    parts = list(dict.fromkeys(part for run in runs for part in run.results.seconds_by_part))
    if not parts:
        return Section(title, note, missing="The run did not record it.")
    parts.sort(key=lambda part: -runs[0].results.seconds_by_part.get(part, 0.0))
    values = np.array([[run.results.seconds_by_part.get(part, np.nan) for part in parts] for run in runs])
    return Section(title, note, (("", figures.draw_bars(title, parts, values, "seconds", runs=runs)),))
