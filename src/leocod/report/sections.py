"""The figures of a page in reading order, each with its words, or with the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from markupsafe import Markup

from leocod.evaluation.error_breakdown import LOWEST_SCORE, NEAR, RIGHT, ErrorCounts
from leocod.report import figures
from leocod.report.reading import Run, ap_name, last_seen


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


def sections(runs: Sequence[Run]) -> list[Section]:
    """Everything that is drawn, in reading order."""
    return [
        over_time(runs),
        by_class_over_time(runs),
        by_class(runs),
        errors(runs),
        when_away(runs),
        pseudo_labels(runs),
        time_by_part(runs),
    ]


def over_time(runs: Sequence[Run]) -> Section:
    """Mean AP50 against steps."""
    title, note = f"{ap_name(runs)} over time", "On the whole test set, also on what the stream has not shown yet."
    if not any(run.results.evaluations for run in runs):
        return Section(title, note, missing="There was no evaluation.")
    return Section(title, note, (("", figures.precision_over_time(runs)),))


def by_class_over_time(runs: Sequence[Run]) -> Section:
    """A heat map for each run."""
    title = "Each class over time"
    note = (
        f"Colour: {ap_name(runs)} at the evaluation that ends the cell. "
        "Orange bars: the class was in the training stream."
    )
    shown = [run for run in runs if figures.tested_classes(run)]
    if not shown:
        return Section(title, note, missing="No class has a test box.")
    highest = max(figures.LOWEST_TOP, 10.0 * float(np.ceil(max(np.nanmax(run.table) for run in shown) / 10)))
    width = figures.WIDTH if len(shown) == 1 else figures.WIDTH / 2
    return Section(
        title,
        note,
        tuple((run.name if len(runs) > 1 else "", figures.heat_map(run, highest, width=width)) for run in shown),
    )


def by_class(runs: Sequence[Run]) -> Section:
    """AP50 by class at the end, best class of the first run on top."""
    title, note = "Each class at the end", f"{ap_name(runs)} after the last step."
    last = [run.results.evaluations[-1].ap_by_class if run.results.evaluations else {} for run in runs]
    known = list(dict.fromkeys(name for one in last for name in one))
    names = [name for name in known if any(one.get(name) is not None for one in last)]
    if not names:
        return Section(title, note, missing="No class has a test box.")
    names.sort(key=lambda name: -(last[0].get(name) or 0.0))
    values = np.array([[np.nan if one.get(name) is None else one[name] for name in names] for one in last], np.float64)
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
        (("", figures.bars(title, names, values, f"{ap_name(runs)} (points)", runs=runs, lowest_top=top)),),
    )


def errors(runs: Sequence[Run]) -> Section:
    """What is wrong with the detections at the end, by kind and class."""
    title = "What is wrong with the detections at the end"
    note = (
        f"In the test frames, detections with a score of at least {LOWEST_SCORE}; each kind of error after TIDE. Badly "
        f"placed: IoU {NEAR} to {RIGHT} with an object of its class. Wrong class: IoU at least {RIGHT} with an object "
        "of another class. Duplicate: the object was found already, with a higher score. Background: none of these. "
        "Missed: objects that nothing of the above is about. Detections count for the class that they say."
    )
    counts = [(run, found) for run in runs if (found := run.errors) is not None]
    if not counts:
        return Section(title, note, missing="The detections of the last evaluation were not kept.")
    kinds = tuple(field.name.replace("_", " ") for field in fields(ErrorCounts))
    total = Grid(("Run", *kinds), tuple((run.name, *found.total.values()) for run, found in counts))
    by_run = (
        Grid(
            ("Class", *kinds),
            tuple((name, *found.of_class(number).values()) for number, name in enumerate(run.classes)),
            f"By class, {run.name}" if len(runs) > 1 else "By class",
        )
        for run, found in counts
    )
    return Section(title, note, tables=(total, *by_run))


def when_away(runs: Sequence[Run]) -> Section:
    """The forgetfulness curve."""
    title = "What is left of a class that has been away"
    note = f"{ap_name(runs)} against steps since the class was last {last_seen(runs)}. A falling line is forgetting."
    if not any(run.can_forget for run in runs):
        return Section(title, note, missing="No forgetfulness: no class was evaluated after different times away.")
    return Section(title, note, (("", figures.precision_when_away(runs)),))


def pseudo_labels(runs: Sequence[Run]) -> Section:
    """How right the pseudo labels were."""
    title = "How right the pseudo labels were"
    note = (
        "By the hidden truth: same class, IoU at least 0.5. Precision: how many of the labels given were right. "
        "Recall: how many of the objects in these frames got one. Counts added up over windows of steps."
    )
    if not any(run.audits for run in runs):
        return Section(title, note, missing="No pseudo labels were given.")
    return Section(title, note, (("", figures.pseudo_label_quality(runs)),))


def time_by_part(runs: Sequence[Run]) -> Section:
    """Seconds by part."""
    title, note = "Where the time went", "Wall-clock time by part."
    parts = list(dict.fromkeys(part for run in runs for part in run.results.seconds_by_part))
    if not parts:
        return Section(title, note, missing="The run did not record it.")
    parts.sort(key=lambda part: -runs[0].results.seconds_by_part.get(part, 0.0))
    values = np.array([[run.results.seconds_by_part.get(part, np.nan) for part in parts] for run in runs])
    return Section(title, note, (("", figures.bars(title, parts, values, "seconds", runs=runs)),))
