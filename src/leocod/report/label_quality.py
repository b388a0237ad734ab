"""How right the pseudo labels of each kind of run were: curves over time, and sums over whole runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from leocod.evaluation.results import Counts
from leocod.events import PseudoLabelAudit
from leocod.report.drawing import HALF, WIDE, Form, draw_forms, pick_colour, put_legend, shorten_name, style_line
from leocod.report.kinds import Kind
from leocod.report.page import format_percent

HEAD = ("Run", "Classes", "Frames", "Labels", "Right", "Objects", "Precision", "Recall")
GROUPS = {"known": "known to the starting weights", "new": "new"}
"""A group of classes as the report names it."""

Audits = Mapping[int, PseudoLabelAudit]
"""Step -> counts."""


def draw_curves(kinds: Sequence[Kind]) -> tuple[tuple[str, Markup], ...]:
    """A figure of all pseudo labels, and where the runs know it, one for known and one for new classes."""
    everything, by_group = [kind.audits for kind in kinds], [kind.audits_by_group for kind in kinds]
    groups = [name for name in GROUPS if any(_has_counts(one.get(name, {})) for one in by_group)]
    if not groups:
        return (("", draw_quality("all classes", kinds, everything)),)
    chosen = {"all": everything} | {name: [one.get(name, {}) for one in by_group] for name in groups}
    return tuple(
        (f"{name.capitalize()} classes", draw_quality(f"{name} classes", kinds, audits, form=HALF))
        for name, audits in chosen.items()
    )


def _has_counts(audits: Audits) -> bool:
    """Whether a group of classes has a label or an object: else its figure would be empty."""
    return any(audit.labels or audit.objects for audit in audits.values())


def draw_quality(what: str, kinds: Sequence[Kind], audits: Sequence[Audits], *, form: Form = WIDE) -> Markup:
    """Precision (solid) and recall (dashed) of pseudo labels, over windows of steps; `audits`: those of each kind."""

    shown = [number for number, one in enumerate(audits) if one]

    def draw(axes: Axes, form: Form) -> None:
        for number in shown:
            steps, precision, recall = measure_quality(audits[number])
            axes.plot(steps, precision, **style_line(number), markersize=3)
            axes.plot(steps, recall, color=pick_colour(number), linewidth=1.5, linestyle=(0, (4, 2)))
        axes.set(xlabel="steps learnt", ylabel="percent", ylim=(0, 102), xlim=(0, None))
        longest = form.longest_label - len(": precision")
        labels = [
            f"{shorten_name(kinds[number].name, longest)}: {figure}" if len(kinds) > 1 else figure
            for number in shown
            for figure in ("precision", "recall")
        ]
        put_legend(axes, axes.lines, labels, form)

    name = f"Precision and recall of the pseudo labels over time, {what}"
    return draw_forms(name, 2.8, draw, form=form, labels=2 * len(shown))


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


def list_totals(kinds: Sequence[Kind]) -> tuple[tuple[str | int, ...], ...]:
    """Rows of a table: the sums of each kind, of all classes and by group, and what runs could tell by themselves."""
    rows: list[tuple[str | int, ...]] = []
    for kind in kinds:
        judged = [run for run in kind.runs if run.judged_audits]
        if judged:
            # Results of earlier versions do not have the sum.
            sums = [run.results.pseudo_label_counts or Counts.of(run.audit) for run in judged]
            rows.append(_make_row(kind, "all", sums))
            groups = [run.results.pseudo_label_groups for run in judged]
            for name, words in GROUPS.items():
                if all(name in one for one in groups):
                    rows.append(_make_row(kind, words, [one[name] for one in groups]))
        checks = [check for run in kind.runs if run.audits and (check := run.results.pseudo_label_check) is not None]
        if checks:
            labels, right = sum(check.labels for check in checks), sum(check.right for check in checks)
            precision = format_percent(right / labels if labels else None)
            rows.append((kind.name, "all, on labelled frames", "–", labels, right, "–", precision, "–"))
    return tuple(rows)


def _make_row(kind: Kind, classes: str, counts: Sequence[Counts]) -> tuple[str | int, ...]:
    names = ("frames", "labels", "right", "objects")
    total = Counts(**{name: sum(getattr(one, name) for one in counts) for name in names})
    quality = (format_percent(total.precision), format_percent(total.recall))
    return (kind.name, classes, total.frames, total.labels, total.right, total.objects, *quality)
