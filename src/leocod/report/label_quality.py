"""How right the pseudo labels of runs were: curves over time, and the sums of whole runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from leocod.evaluation.results import Counts
from leocod.events import PseudoLabelAudit
from leocod.report.figures import HALF, WIDE, Form, draw_forms, pick_colour, put_legend, style_line
from leocod.report.reading import Run

HEAD = ("Run", "Classes", "Frames", "Labels", "Right", "Objects", "Precision", "Recall")
GROUPS = {"known": "known to the starting weights", "new": "new"}
"""A group of classes as the report names it."""

Audits = Mapping[int, PseudoLabelAudit]
"""Step -> counts."""


def draw_curves(runs: Sequence[Run]) -> tuple[tuple[str, Markup], ...]:
    """A figure of all pseudo labels, and where the runs know it, one for known and one for new classes."""
    groups = [name for name in GROUPS if any(_has_counts(run, name) for run in runs)]
    everything = [run.judged_audits for run in runs]
    if not groups:
        return (("", draw_quality("all classes", runs, everything)),)
    chosen = {"all": everything} | {name: [run.audits_by_group.get(name, {}) for run in runs] for name in groups}
    return tuple(
        (f"{name.capitalize()} classes", draw_quality(f"{name} classes", runs, audits, form=HALF))
        for name, audits in chosen.items()
    )


def _has_counts(run: Run, group: str) -> bool:
    """Whether a group of classes has a label or an object: else its figure would be empty."""
    return any(audit.labels or audit.objects for audit in run.audits_by_group.get(group, {}).values())


def draw_quality(what: str, runs: Sequence[Run], audits: Sequence[Audits], *, form: Form = WIDE) -> Markup:
    """Precision (solid) and recall (dashed) of pseudo labels, over windows of steps; `audits` has those of each run."""

    shown = [number for number, one in enumerate(audits) if one]
    kinds = [
        f"{runs[number].name}: {kind}" if len(runs) > 1 else kind
        for number in shown
        for kind in ("precision", "recall")
    ]

    def draw(axes: Axes, form: Form) -> None:
        for number in shown:
            steps, precision, recall = measure_quality(audits[number])
            axes.plot(steps, precision, **style_line(number), markersize=3)
            axes.plot(steps, recall, color=pick_colour(number), linewidth=1.5, linestyle=(0, (4, 2)))
        axes.set(xlabel="steps learnt", ylabel="percent", ylim=(0, 102), xlim=(0, None))
        put_legend(axes, axes.lines, kinds, form)

    name = f"Precision and recall of the pseudo labels over time, {what}"
    return draw_forms(name, 2.8, draw, form=form, labels=len(kinds))


def measure_quality(audits: Audits, windows: int = 30) -> tuple[list[float], list[float], list[float]]:
    """Middle of each window in steps learnt, precision and recall in percent; NaN where there was nothing to count.

    Counts are added up within a window before dividing: a step with a single pseudo label is no step with 100 %.
    """
    edges = np.unique(np.linspace(0, max(audits) + 1, windows + 1).astype(int))
    steps, precision, recall = [], [], []
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        audit = PseudoLabelAudit.together(counts for step, counts in audits.items() if start <= step < end)
        steps.append((start + end) / 2)
        precision.append(100 * audit.right / audit.labels if audit.labels else np.nan)
        recall.append(100 * audit.right / audit.objects if audit.objects else np.nan)
    return steps, precision, recall


def list_totals(runs: Sequence[Run]) -> tuple[tuple[str | int, ...], ...]:
    """Rows of a table: the sums of each run, of all classes and by group, and what it could tell by itself."""
    rows: list[tuple[str | int, ...]] = []
    for run in (run for run in runs if run.audits):
        if run.judged_audits:
            # Results of earlier versions do not have the sum.
            rows.append(_make_row(run, "all", run.results.pseudo_label_counts or Counts.of(run.audit)))
            groups = run.results.pseudo_label_groups
            rows += [_make_row(run, words, groups[name]) for name, words in GROUPS.items() if name in groups]
        if (check := run.results.pseudo_label_check) is not None:
            precision = _to_percent(check.right / check.labels if check.labels else None)
            rows.append((run.name, "all, on labelled frames", "–", check.labels, check.right, "–", precision, "–"))
    return tuple(rows)


def _make_row(run: Run, classes: str, counts: Counts) -> tuple[str | int, ...]:
    quality = (_to_percent(counts.precision), _to_percent(counts.recall))
    return (run.name, classes, counts.frames, counts.labels, counts.right, counts.objects, *quality)


def _to_percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
