"""What a reader with two minutes wants to know: what was learnt, what it cost, what was lost, what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leocod.report.page import format_duration
from leocod.report.reading import Run
from leocod.settings import list_leaves
from leocod.text import list_some, pluralize

LEARNT, ADVICE = "What was learnt", "What to do next"
"""Headings of the paragraphs that the terminal shows, too."""

MOST_NAMED = 4
"""Classes that a sentence names."""
FALL = 5.0
"""Points of AP that a class must have fallen from its best to be called forgotten."""
FEW_FRAMES = 10
"""Labelled frames of a class below which there are too few."""
MANY_LABELS = 20
"""Pseudo labels of a class from which it can be said that they are mostly wrong."""
RISE = 1.0
"""Points between the last two evaluations from which AP still rises."""
FULL_OF = 0.5
"""Share of the memory's frames from which it is full of one class."""

SHOWN_ABOVE = 0.5
"""Score above which `leocod predict` shows a detection, unless it is told another one."""


@dataclass(frozen=True)
class Paragraph:
    """A heading and its sentences."""

    heading: str
    sentences: tuple[str, ...]


def summarise(run: Run) -> list[Paragraph]:
    """The first screen of a run's report."""
    return [
        Paragraph(LEARNT, tuple(_tell_learnt(run))),
        Paragraph("What it cost", tuple(_tell_cost(run))),
        Paragraph("What was forgotten", tuple(_tell_forgotten(run))),
        Paragraph(ADVICE, tuple(_advise(run)) or ("Nothing stands out. More of the stream, or more labels.",)),
    ]


def _tell_learnt(run: Run) -> Iterator[str]:
    name, evaluations = run.results.definitions.ap_name, run.results.evaluations
    if not evaluations or evaluations[-1].ap is None:
        yield "Nothing was tested, so nothing can be said."
        return
    first = run.results.start
    began = (
        (first.ap, "before the first step") if first else (evaluations[0].ap, f"after step {evaluations[0].step + 1}")
    )
    from_start = "" if began[0] is None or len(evaluations) + bool(first) < 2 else f", {began[0]:.1f} {began[1]}"
    last = _last_by_class(run)
    yield f"{name} is {evaluations[-1].ap:.1f} at the end{from_start}."
    frames = f", on {pluralize(len(run.last_detections), 'test frame')}" if run.last_detections else ""
    yield f"It is the mean over {len(last)} of {pluralize(len(run.classes), 'class')}{frames}; 100 is perfect."
    ordered = sorted(last, key=lambda one: -last[one])
    if len(ordered) > 2 * MOST_NAMED:
        yield f"Best: {_list_points(ordered[:MOST_NAMED], last)}. Worst: {_list_points(ordered[-MOST_NAMED:], last)}."


def _tell_cost(run: Run) -> Iterator[str]:
    results = run.results
    labels = pluralize(results.labelled_frames, "labelled frame")
    boxes = "" if results.labelled_boxes is None else f" with {pluralize(results.labelled_boxes, 'box')}"
    person = results.labelling_seconds
    time = "" if person is None else f", which take a person {format_duration(person)}"
    yield f"{labels}{boxes}{time}."
    yield f"{format_duration(results.seconds)} of this machine for {pluralize(results.steps, 'step')}."


def _tell_forgotten(run: Run) -> Iterator[str]:
    for name, one in run.results.also.items():
        ends = one.start.ap, one.evaluations[-1].ap if one.evaluations else None
        if ends[0] is not None and ends[1] is not None:
            yield f"On the test frames of {name}: {ends[0]:.1f} before the first step, {ends[1]:.1f} at the end."
    yield from _tell_fallen(run)


def _tell_fallen(run: Run) -> Iterator[str]:
    """Which classes of this run's own test frames have fallen."""
    if len(run.table) < 2 or not run.single_pass:
        # Said of this stream. What an earlier one had taught is said before.
        if not run.results.also:
            yield "There is no time over which anything could be forgotten."
        return
    best, last = _best_by_class(run), _last_by_class(run)
    fallen = sorted((one for one in last if best[one] - last[one] >= FALL), key=lambda one: last[one] - best[one])
    if not fallen:
        yield f"No class is {FALL:g} points or more below its best."
        return
    shown = [f"{one} ({best[one]:.0f} → {last[one]:.0f}{_tell_last_seen(run, one)})" for one in fallen]
    yield f"{FALL:g} points or more below their best: {_list(shown)}."


def _tell_last_seen(run: Run, name: str) -> str:
    seen = np.flatnonzero(run.presence[:, run.classes.index(name)])
    return f", last seen at step {seen[-1] + 1}" if len(seen) else ""


def _advise(run: Run) -> Iterator[str]:
    yield from tell_silence(run)
    last, held = _last_by_class(run), run.memory.by_class if run.memory else {}
    mean = float(np.mean(list(last.values()))) if last else 0.0
    labelled = run.labelled_by_class
    few = [one for one in last if one in labelled and labelled[one] < FEW_FRAMES and last[one] < mean]
    if few:
        counted = [f"{one} ({pluralize(labelled[one], 'labelled frame')})" for one in few]
        yield f"Label more frames with {_list(counted)}: there are few, and the detector is below its mean there."
    if wrong := list(_list_wrong(run)):
        yield (
            f"Pseudo labels of {_list(wrong)} are mostly wrong: label these classes, or raise "
            "efficient_cls.score_threshold."
        )
    # In a balanced store a class has more than its share only because its frames show other classes, too.
    balanced = dict(list_leaves(run.settings)).get("strategy.memory_store", "balanced") == "balanced"
    full = [one for one in held if run.memory and held[one].frames > FULL_OF * run.memory.frames]
    if full and len(held) > 2 and not balanced:
        yield f"The memory is mostly full of {_list(full)}: strategy.memory_store=balanced gives each class its share."
    if untested := [name for name in run.classes if name not in last] if last else []:
        they = "it is" if len(untested) == 1 else "they are"
        yield f"No test frame shows {_list(untested)}, so nobody knows how well {they} detected."
    points = [one.ap for one in run.results.evaluations if one.ap is not None]
    if len(points) > 1 and points[-1] - points[-2] >= RISE:
        yield f"{run.results.definitions.ap_name} still rises at the end: more of the stream would help."


def tell_silence(run: Run) -> Iterator[str]:
    """Whoever uses the detector as it is sees nothing: said before all else."""
    if not run.last_detections:
        return
    best = max((float(found.scores.max()) for found in run.last_detections.values() if len(found)), default=None)
    cure = "Label more frames, or learn more often from each step (a higher strategy.rounds)"
    if best is None:
        yield f"The detector finds nothing in the test frames. {cure}."
    elif best <= SHOWN_ABOVE:
        yield (
            f"No detection in the test frames has a score above {SHOWN_ABOVE:g} (the best: {best:.2f}), so `leocod "
            f"predict` shows nothing there. {cure}. A --threshold below {best:.2f} shows more."
        )


def _list_wrong(run: Run) -> Iterator[str]:
    """Classes whose pseudo labels are mostly wrong."""
    counts = run.audit.by_class if run.judged_audits else None
    for number, count in sorted((counts or {}).items()):
        if number < len(run.classes) and count.labels >= MANY_LABELS and 2 * count.right < count.labels:
            yield f"{run.classes[number]} ({count.right} of {count.labels} right)"


def _last_by_class(run: Run) -> dict[str, float]:
    """AP at the end, of the classes that are tested."""
    evaluations = run.results.evaluations
    by_class = evaluations[-1].ap_by_class if evaluations else {}
    return {name: ap for name, ap in by_class.items() if ap is not None}


def _best_by_class(run: Run) -> dict[str, float]:
    best = np.max(np.nan_to_num(run.table), axis=0)
    return dict(zip(run.classes, best.tolist(), strict=True))


def _list_points(names: list[str], points: dict[str, float]) -> str:
    return ", ".join(f"{name} {points[name]:.0f}" for name in names)


def _list(names: list[str]) -> str:
    return list_some(names, MOST_NAMED)
