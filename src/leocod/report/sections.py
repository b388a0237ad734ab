"""The figures of a page in reading order, each with its words, or with the reason why there is none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from leocod.evaluation.error_breakdown import LOWEST_SCORE, NEAR, RIGHT, ErrorCounts
from leocod.evaluation.results import MetricWords
from leocod.report import drawing, figures, label_quality
from leocod.report.differences import show_differences
from leocod.report.kinds import Kind, average, list_runs
from leocod.report.page import Grid, Section, format_points
from leocod.report.reading import name_ap, name_last_seen

MOST_DRAWN = 8
"""Kinds that figures show: more lines and bars cannot be told apart. Tables have all."""


def make_sections(kinds: Sequence[Kind], metrics: Sequence[tuple[str, MetricWords]]) -> list[Section]:
    """Everything that is compared and drawn, in reading order."""
    drawn = kinds[:MOST_DRAWN]
    return [
        *show_differences(kinds, metrics),
        show_over_time(drawn),
        show_classes_over_time(drawn),
        show_classes(drawn),
        show_errors(kinds),
        show_time_away(drawn),
        *show_earlier_tests(kinds),
        show_pseudo_labels(kinds),
        show_seconds(drawn),
    ]


def show_over_time(kinds: Sequence[Kind]) -> Section:
    """Mean AP against steps."""
    title = f"{name_ap(list_runs(kinds))} over time"
    note = "On the whole test set, also on what the stream has not shown yet."
    if not any(kind.evaluated_steps for kind in kinds):
        return Section(title, note, missing="There was no evaluation.")
    if not any(figures.list_tested_classes(kind) for kind in kinds):
        return Section(title, note, missing="No class has a test box.")
    if not all(kind.is_single for kind in kinds):
        note += " Line and band: mean and standard deviation over the seeds of a kind."
    if len(kinds) == 1:
        note += " Point at a thin line to see which class it is."
    return Section(title, note, (("", figures.draw_precision_over_time(kinds)),))


def show_classes_over_time(kinds: Sequence[Kind]) -> Section:
    """A heat map for each kind."""
    title, ap = "Each class over time", name_ap(list_runs(kinds))
    note = f"Colour: {ap} at the evaluation that ends the cell."
    if any(kind.is_single for kind in kinds):
        note += " Orange bars: the class was in the training stream, as far as somebody has labelled it."
    if not all(kind.is_single for kind in kinds):
        note += " Mean over the seeds that test a class. Seeds may have streams of their own: no orange bars there."
    shown = [kind for kind in kinds if figures.list_tested_classes(kind)]
    if not shown:
        return Section(title, note, missing="No class has a test box.")
    highest = max(figures.LOWEST_TOP, 10.0 * float(np.ceil(max(np.nanmax(kind.table) for kind in shown) / 10)))
    form = drawing.WIDE if len(shown) == 1 else drawing.HALF
    return Section(
        title,
        note,
        tuple((kind.name if len(kinds) > 1 else "", figures.draw_heat_map(kind, highest, form=form)) for kind in shown),
    )


def show_classes(kinds: Sequence[Kind]) -> Section:
    """AP by class at the end, best class of the first kind on top."""
    title, ap = "Each class at the end", name_ap(list_runs(kinds))
    note = f"{ap} after the last step."
    if not all(kind.is_single for kind in kinds):
        note += " Mean over the seeds that test a class."
    last = [_average_last(kind) for kind in kinds]
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
    drawn = figures.MOST_ROWS // len(kinds)
    if len(names) > drawn:
        note += f" Drawn are the first {drawn} of {len(names)} classes; the numbers by class have all."
        names, values = names[:drawn], values[:, :drawn]
    top, label = figures.LOWEST_TOP, f"{ap} (points)"
    return Section(
        title,
        note,
        (("", figures.draw_bars(title, names, values, label, kinds=[kind.name for kind in kinds], lowest_top=top)),),
    )


def _average_last(kind: Kind) -> dict[str, float | None]:
    """Class -> AP at the end of each run, mean over the runs that test the class."""
    last = [run.results.evaluations[-1].ap_by_class for run in kind.runs if run.results.evaluations]
    return {name: average(one.get(name) for one in last) for by_class in last for name in by_class}


def show_errors(kinds: Sequence[Kind]) -> Section:
    """What is wrong with the detections at the end, by kind and class."""
    title = "What is wrong with the detections at the end"
    note = (
        f"In the test frames, detections with a score of at least {LOWEST_SCORE} (AP counts lower scores, too, so a "
        "class may have a high AP and be missed here); each kind of error after TIDE. Badly "
        f"placed: IoU {NEAR} to {RIGHT} with an object of its class. Wrong class: IoU at least {RIGHT} with an object "
        "of another class. Duplicate: the object was found already, with a higher score. Background: none of these. "
        "Missed: objects that nothing of the above is about. Detections count for the class that they say."
    )
    if not all(kind.is_single for kind in kinds):
        note += " Counts are added up over the runs of a kind."
    counted = [(kind, counts) for kind in kinds if (counts := _count_errors(kind))]
    if not counted:
        return Section(title, note, missing="The detections of the last evaluation were not kept.")
    names = tuple(field.name.replace("_", " ") for field in fields(ErrorCounts))
    total = Grid(
        ("Run", *names),
        tuple((kind.name, *np.sum(list(counts.values()), axis=0).tolist()) for kind, counts in counted),
    )
    by_kind = (
        Grid(
            ("Class", *names),
            tuple((name, *row.tolist()) for name, row in counts.items()),
            f"By class, {kind.name}" if len(kinds) > 1 else "By class",
        )
        for kind, counts in counted
    )
    return Section(title, note, tables=(total, *by_kind))


def _count_errors(kind: Kind) -> dict[str, NDArray[np.int64]]:
    """Class -> its counts, added up over the runs that have kept their detections."""
    added: dict[str, NDArray[np.int64]] = {}
    for run in kind.runs:
        if (counts := run.errors) is not None:
            columns = np.array([getattr(counts, field.name) for field in fields(ErrorCounts)])
            for name, row in zip(run.classes, columns.T, strict=True):
                added[name] = added[name] + row if name in added else row
    return added


def show_time_away(kinds: Sequence[Kind]) -> Section:
    """The forgetfulness curve."""
    title, runs = "What is left of a class that has been away", list_runs(kinds)
    note = (
        f"{name_ap(runs)} against steps since the class was last {name_last_seen(runs)}. A falling line is forgetting."
    )
    if not any(kind.can_forget for kind in kinds):
        return Section(title, note, missing="No forgetfulness: no class was evaluated after different times away.")
    return Section(title, note, (("", figures.draw_precision_when_away(kinds)),))


def show_earlier_tests(kinds: Sequence[Kind]) -> list[Section]:
    """What the stream cost on the test frames of earlier runs; nothing where none were tried again."""
    runs = list_runs(kinds)
    tested = [(run, name, one) for run in runs for name, one in run.results.also.items() if one.evaluations]
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


def show_pseudo_labels(kinds: Sequence[Kind]) -> Section:
    """How right the pseudo labels were."""
    title, runs = "How right the pseudo labels were", list_runs(kinds)
    checked = (
        "On labelled frames: what the pseudo-labeller would have written there, by the person's labels; the run can "
        "tell this by itself."
    )
    note = (
        "Compared with the hidden truth: same class, IoU at least 0.5. Precision: how many of the labels were right. "
        "Recall: how many of the objects got a right one, over all unlabelled frames that the pseudo-labeller looked "
        "at, also those that it left empty and those left out of training. A label counts for the class that it says. "
        f"In the curves, counts are added up over windows of steps. {checked}"
    )
    if not all(kind.is_single for kind in kinds):
        note += " Counts are added up over the runs of a kind."
    totals = Grid(label_quality.HEAD, label_quality.list_totals(kinds))
    if not any(run.judged_audits for run in runs):
        given = any(run.audits for run in runs)
        nobody = "Nobody has labelled the frames that got pseudo labels, so nothing tells how right these are."
        if not given or not totals.rows:
            return Section(title, "", missing=nobody if given else "No pseudo labels were given.")
        return Section(title, f"{nobody} {checked}", tables=(totals,))
    return Section(title, note, label_quality.draw_curves(kinds[:MOST_DRAWN]), (totals,))


def show_seconds(kinds: Sequence[Kind]) -> Section:
    """Seconds by part."""
    title, note = "Where the time went", "Wall-clock time by part."
    if not all(kind.is_single for kind in kinds):
        note += " Mean over the runs of a kind."
    parts = list(dict.fromkeys(part for run in list_runs(kinds) for part in run.results.seconds_by_part))
    if not parts:
        return Section(title, note, missing="The run did not record it.")
    seconds = [_average_seconds(kind) for kind in kinds]
    parts.sort(key=lambda part: -seconds[0].get(part, 0.0))
    values = np.array([[one.get(part, np.nan) for part in parts] for one in seconds])
    names = [kind.name for kind in kinds]
    return Section(title, note, (("", figures.draw_bars(title, parts, values, "seconds", kinds=names)),))


def _average_seconds(kind: Kind) -> dict[str, float]:
    """Part -> seconds; a part that a run does not have took it none."""
    total: dict[str, float] = defaultdict(float)
    for run in kind.runs:
        for part, seconds in run.results.seconds_by_part.items():
            total[part] += seconds
    return {part: seconds / len(kind.runs) for part, seconds in total.items()}
