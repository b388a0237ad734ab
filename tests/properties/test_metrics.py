"""Average precision, CAP, FAP, forgetfulness and the audit: what holds of any table and any detections."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from types import ModuleType
from typing import Any

import arbitrary
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from leocod.evaluation.ap import Style, average_precision
from leocod.evaluation.audit import audit_pseudo_labels, match_labels
from leocod.evaluation.continual import cap, cap_over_time, fap, forgetting, forgetting_by_class, steps_since_seen
from leocod.types import Detections, Labels

CLASSES = arbitrary.CLASSES
SMALL = (6, 6)
"""So small a frame that boxes overlap."""

styles = some.sampled_from(["coco", "voc"])
Case = tuple[dict[int, Detections], dict[int, Labels]]


@some.composite
def cases(draw: Any, *, unique: bool = False, apart: bool = False) -> Case:
    """Detections and true boxes of a few frames. `unique`: no two scores are the same, `apart`: no two true boxes."""
    ids = draw(some.lists(some.integers(0, 50), max_size=4, unique=True))
    score = some.integers(1, 10**6).map(lambda one: one / 10**6) if unique else arbitrary.tied_scores
    truth, found = {}, {}
    for number in ids:
        labels = draw(arbitrary.truths(SMALL))
        truth[number] = Labels(labels.boxes + 10 * np.arange(len(labels))[:, None], labels.classes) if apart else labels
        found[number] = near(truth[number], draw(arbitrary.detections(SMALL, most=6, score=score, unique=unique)))
    if unique:
        # Also between frames, and exactly so in 32 bits.
        order = iter(range(1, 1000))
        found = {n: Detections(one.boxes, one.classes, ranks(one.scores, order)) for n, one in found.items()}
    return found, truth


def near(truth: Labels, found: Detections) -> Detections:
    """Every second detection put onto a true box, or onto half of it, so that some are right, and some just so."""
    boxes, classes = found.boxes.copy(), found.classes.copy()
    for number in range(0, len(found) if len(truth) else 0, 2):
        x1, y1, x2, y2 = truth.boxes[number % len(truth)]
        boxes[number] = (x1, y1, x2, (y1 + y2) / 2 if number % 4 else y2)
        classes[number] = truth.classes[number % len(truth)]
    return Detections(boxes, classes, found.scores)


def ranks(scores: Any, order: Any) -> Any:
    taken = [next(order) for _ in scores]
    # Neither rising nor falling from frame to frame.
    values = np.array([(one * 379) % 1000 / 1024 for one in taken], np.float32)
    return np.sort(values)[np.argsort(np.argsort(scores))]


def precision(case: Case, style: Style = "coco") -> Any:
    return average_precision(*case, CLASSES, style=style)


def changed(found: Mapping[int, Detections], change: Any) -> dict[int, Detections]:
    return {number: change(one) for number, one in found.items()}


# -- average precision


def slow_precision(case: Case, category: int, style: Style) -> float:
    """By definition, one detection at a time."""
    found, truth = case
    objects = sum(int((labels.classes == category).sum()) for labels in truth.values())
    if not objects:
        return math.nan
    marks = [
        (-float(one.scores[n]), frame, n)
        for frame, one in found.items()
        for n in range(len(one))
        if one.classes[n] == category
    ]
    taken: set[tuple[int, int]] = set()
    right = []
    for _, frame, n in sorted(marks):
        rivals = []
        for number in np.flatnonzero(truth[frame].classes == category).tolist():
            free = (frame, number) not in taken
            if free or style == "voc":
                # Of equally good true boxes COCO takes the last one, VOC the first.
                overlap = slow_iou(found[frame].boxes[n], truth[frame].boxes[number])
                rivals.append((overlap, number if style == "coco" else -number, number, free))
        best = max(rivals, default=(0.0, 0, 0, False))
        right.append(best[0] >= 0.5 and best[3])
        if right[-1]:
            taken.add((frame, best[2]))
    curve = [(Fraction(sum(right[: n + 1]), objects), Fraction(sum(right[: n + 1]), n + 1)) for n in range(len(right))]
    if style == "coco":
        levels = [n / 100 for n in range(101)]
        return sum(max((float(p) for r, p in curve if float(r) >= level), default=0.0) for level in levels) / 101
    steps = [Fraction(n + 1, objects) for n in range(objects)]
    return float(sum(max((p for r, p in curve if r >= step), default=Fraction(0)) for step in steps) / objects)


def slow_iou(one: Any, two: Any) -> float:
    ax, ay, bx, by = (float(value) for value in one)
    cx, cy, dx, dy = (float(value) for value in two)
    shared = max(min(bx, dx) - max(ax, cx), 0.0) * max(min(by, dy) - max(ay, cy), 0.0)
    return shared / ((bx - ax) * (by - ay) + (dx - cx) * (dy - cy) - shared)


@given(cases(), styles)
def test_precision_is_what_the_definition_says(case: Case, style: Style) -> None:
    expected = [slow_precision(case, category, style) for category in range(CLASSES)]

    result = precision(case, style)

    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-9)
    assert ((result >= 0) & (result <= 1) | np.isnan(result)).all()


@arbitrary.fewer
@given(cases())
def test_precision_is_what_pycocotools_says(pycocotools: ModuleType, case: Case) -> None:
    if case[1]:
        np.testing.assert_array_equal(precision(case), pycocotools.precision(*case, CLASSES))


@arbitrary.fewer
@given(cases(), styles)
def test_the_truth_itself_is_perfect(case: Case, style: Style) -> None:
    _, truth = case
    # Two true boxes in one place are one to VOC, which looks at the best true box only.
    truth = {n: Labels(one.boxes + 10 * np.arange(len(one))[:, None], one.classes) for n, one in truth.items()}
    found = {n: Detections(one.boxes, one.classes, np.ones(len(one), np.float32)) for n, one in truth.items()}

    result = precision((found, truth), style)

    np.testing.assert_allclose(result[~np.isnan(result)], 1.0, rtol=0, atol=1e-12)
    present = {name for one in truth.values() for name in one.classes.tolist()}
    assert np.flatnonzero(~np.isnan(result)).tolist() == sorted(present)


@arbitrary.fewer
@given(cases(), styles, some.integers(0, CLASSES - 1), some.floats(0, 1, width=32), some.data())
def test_a_false_detection_never_helps_and_the_last_of_all_does_not_matter(
    case: Case, style: Style, name: int, score: float, data: Any
) -> None:
    found, truth = case
    if not truth:
        return
    frame = data.draw(some.sampled_from(sorted(truth)))
    before = precision(case, style)

    def with_one_more(chance: float) -> Any:
        away = Detections(arbitrary.array([(900, 900, 910, 910)]), np.array([name]), np.array([chance], np.float32))
        return precision(({**found, frame: arbitrary.joined(found[frame], away)}, truth), style)

    assert (with_one_more(score) <= before + 1e-12)[~np.isnan(before)].all()
    np.testing.assert_allclose(with_one_more(0.05), before, rtol=0, atol=1e-12)


@arbitrary.fewer
@given(cases(apart=True), styles, some.data())
def test_to_say_it_twice_never_helps(case: Case, style: Style, data: Any) -> None:
    found, truth = case
    frames = [number for number, one in found.items() if len(one)]
    if not frames:
        return
    frame = data.draw(some.sampled_from(frames))
    again = arbitrary.reordered(found[frame], [data.draw(some.integers(0, len(found[frame]) - 1))])
    before = precision(case, style)

    after = precision(({**found, frame: arbitrary.joined(found[frame], again)}, truth), style)

    assert (after <= before + 1e-12)[~np.isnan(before)].all()


@arbitrary.fewer
@given(cases(unique=True), styles, some.randoms(use_true_random=False))
def test_the_order_of_frames_and_of_detections_does_not_matter(case: Case, style: Style, random: Any) -> None:
    found, truth = case
    ids = list(truth)
    new = random.sample(range(100, 200), len(ids))

    def shuffled(one: Detections) -> Detections:
        return arbitrary.reordered(one, random.sample(range(len(one)), len(one)))

    moved = (
        {new[n]: shuffled(found[one]) for n, one in enumerate(ids)},
        {new[n]: truth[one] for n, one in enumerate(ids)},
    )

    np.testing.assert_allclose(precision(moved, style), precision(case, style), rtol=0, atol=1e-12)


@arbitrary.fewer
@given(cases(), styles, some.permutations(range(CLASSES)))
def test_classes_with_other_numbers_score_the_same(case: Case, style: Style, numbers: list[int]) -> None:
    found, truth = case
    new = np.array(numbers)
    renamed = (
        changed(found, lambda one: Detections(one.boxes, new[one.classes], one.scores)),
        {n: Labels(one.boxes, new[one.classes]) for n, one in truth.items()},
    )

    np.testing.assert_array_equal(precision(renamed, style)[new], precision(case, style))


@arbitrary.fewer
@given(cases(), styles)
def test_only_the_order_of_scores_counts_and_no_unit_of_length(case: Case, style: Style) -> None:
    found, truth = case
    other = (
        changed(found, lambda one: Detections(one.boxes * 4, one.classes, one.scores**3 / 2)),
        {n: Labels(one.boxes * 4, one.classes) for n, one in truth.items()},
    )

    np.testing.assert_array_equal(precision(other, style), precision(case, style))


# -- over time


@some.composite
def histories(draw: Any) -> tuple[Any, list[int], Any]:
    """A table of AP with classes that have none, the steps it was taken at, and when each class was present."""
    steps, classes = draw(some.integers(1, 10)), draw(some.integers(1, 4))
    taken = sorted(draw(some.sets(some.integers(0, steps - 1), min_size=1)))
    rows = some.lists(some.integers(0, 8), min_size=classes, max_size=classes)
    table = np.array([draw(rows) for _ in taken]) / 8
    table[:, draw(some.lists(some.booleans(), min_size=classes, max_size=classes))] = np.nan
    presence = some.lists(some.booleans(), min_size=classes, max_size=classes)
    return table, taken, np.array([draw(presence) for _ in range(steps)])


bins = some.none() | some.integers(2, 6)
weights = some.sampled_from(["paper", "oak"])


def slow_forgetting(history: Any, category: int, count: int | None, weighting: str) -> float:
    """By the formula, one evaluation at a time, in fractions."""
    table, taken, presence = history
    times: list[tuple[int, Fraction]] = []
    for row, step in enumerate(taken):
        seen = [before for before in range(step + 1) if presence[before, category]]
        if seen and not np.isnan(table[row, category]):
            times.append((step - seen[-1], Fraction(float(table[row, category]))))
    if not times:
        return math.nan
    least, most = min(k for k, _ in times), max(k for k, _ in times)
    width = Fraction(max(most - least, 1), count) if count else None
    held: dict[Fraction, list[Fraction]] = {}
    for k, value in times:
        if width is None:
            centre = Fraction(k)
        else:
            centre = least + (min((k - least) // width, count - 1) + Fraction(1, 2)) * width
        held.setdefault(centre, []).append(value)
    if len(held) < 2:
        return math.nan
    means = {k: sum(values) / len(values) for k, values in sorted(held.items())}
    first = min(means)
    counts = {k: k - first if weighting == "paper" else k for k in means}
    return float(sum(counts[k] * (means[first] - means[k]) for k in means) / sum(counts.values()))


@given(histories())
def test_cap_and_fap_are_means_of_what_is_known(history: Any) -> None:
    table, _, _ = history
    known = table[~np.isnan(table)]

    if not known.size:
        assert np.isnan(cap(table))
        assert np.isnan(fap(table))
        return
    rows = [[float(one) for one in row if not np.isnan(one)] for row in table]
    assert cap(table) == pytest.approx(np.mean([np.mean(row) for row in rows]))
    assert fap(table) == pytest.approx(np.mean(rows[-1]))
    assert known.min() - 1e-12 <= min(cap(table), fap(table)) <= max(cap(table), fap(table)) <= known.max() + 1e-12
    assert cap(table[-1:]) == fap(table) == cap_over_time(table)[-1]


@given(histories(), bins, weights)
def test_forgetfulness_is_what_the_formula_says_from_minus_1_to_1(history: Any, count: Any, weighting: Any) -> None:
    result = forgetting_by_class(*history, bins=count, weights=weighting)

    expected = [slow_forgetting(history, category, count, weighting) for category in range(history[0].shape[1])]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)
    assert ((np.abs(result) <= 1) | np.isnan(result)).all()
    mean = forgetting(*history, bins=count, weights=weighting)
    assert np.isnan(mean) if np.isnan(result).all() else mean == pytest.approx(np.nanmean(result))


@given(histories(), bins, weights, some.integers(-8, 8), some.integers(1, 8))
def test_forgetfulness_is_about_differences(history: Any, count: Any, weighting: Any, more: int, factor: int) -> None:
    table, *rest = history
    result = forgetting_by_class(table, *rest, bins=count, weights=weighting)

    raised = forgetting_by_class(factor * table + more, *rest, bins=count, weights=weighting)
    flat = forgetting_by_class(0 * table + more, *rest, bins=count, weights=weighting)

    np.testing.assert_allclose(raised, factor * result, rtol=0, atol=1e-9)
    assert (np.isnan(flat) | (flat == 0)).all()


@given(histories(), bins, weights, some.randoms(use_true_random=False))
def test_the_order_of_classes_and_evaluations_does_not_change_what_is_forgotten(
    history: Any, count: Any, weighting: Any, random: Any
) -> None:
    table, taken, presence = history
    names = random.sample(range(table.shape[1]), table.shape[1])
    rows = random.sample(range(len(taken)), len(taken))

    result = forgetting_by_class(
        table[rows][:, names], [taken[row] for row in rows], presence[:, names], bins=count, weights=weighting
    )

    before = forgetting_by_class(*history, bins=count, weights=weighting)
    np.testing.assert_allclose(result, before[names], rtol=0, atol=1e-12)


@given(histories(), bins, weights)
def test_what_only_falls_with_time_away_is_forgotten(history: Any, count: Any, weighting: Any) -> None:
    table, taken, presence = history
    falling = np.where(np.isnan(table), np.nan, 1 - steps_since_seen(taken, presence) / 100)

    result = forgetting_by_class(falling, taken, presence, bins=count, weights=weighting)

    assert ((result > 0) | np.isnan(result)).all()


@given(histories(), some.integers(1, 4))
def test_what_comes_after_the_last_evaluation_does_not_matter(history: Any, more: int) -> None:
    table, taken, presence = history
    later = np.concatenate([presence[: taken[-1] + 1], np.ones((more, presence.shape[1]), bool)])

    np.testing.assert_array_equal(steps_since_seen(taken, later), steps_since_seen(taken, presence))
    np.testing.assert_array_equal(forgetting_by_class(table, taken, later), forgetting_by_class(table, taken, presence))


# -- the audit


def slow_right(labels: Labels, truth: Labels) -> list[bool]:
    free = list(range(len(truth)))
    right = []
    for box, name in zip(labels.boxes, labels.classes, strict=True):
        own = [(slow_iou(box, truth.boxes[n]), -n) for n in free if truth.classes[n] == name]
        hit = bool(own) and max(own)[0] >= 0.5
        if hit:
            free.remove(-max(own)[1])
        right.append(hit)
    return right


@some.composite
def judged(draw: Any) -> tuple[Labels, Labels]:
    """Pseudo labels, of which some say what is there, some say it twice, and some say what is not there."""
    truth, other = draw(arbitrary.truths(SMALL)), draw(arbitrary.truths(SMALL, most=2))
    again = draw(some.lists(some.integers(0, len(truth) - 1), max_size=5)) if len(truth) else []
    boxes, classes = (
        np.concatenate([getattr(truth, part)[again], getattr(other, part)]) for part in ("boxes", "classes")
    )
    return Labels(boxes, classes), truth


@given(some.lists(some.builds(lambda two, known: (*two, known), judged(), some.booleans()), max_size=3))
def test_the_audit_counts_what_the_definition_says(frames: list[tuple[Labels, Labels, bool]]) -> None:
    pseudo = {number: labels for number, (labels, _, _) in enumerate(frames)}
    truth = {number: labels for number, (_, labels, known) in enumerate(frames) if known}

    audit = audit_pseudo_labels(pseudo, truth)

    known = [(pseudo[number], truth[number]) for number in truth]
    assert audit.frames == len(known)
    assert (audit.labels, audit.objects) == (sum(len(one) for one, _ in known), sum(len(two) for _, two in known))
    assert audit.right == sum(sum(slow_right(one, two)) for one, two in known) <= min(audit.labels, audit.objects)


@given(arbitrary.truths(SMALL), some.randoms(use_true_random=False))
def test_the_truth_in_any_order_is_all_right_and_in_other_classes_all_wrong(truth: Labels, random: Any) -> None:
    order = random.sample(range(len(truth)), len(truth))

    same = Labels(truth.boxes[order], truth.classes[order])
    other = Labels(truth.boxes, truth.classes + CLASSES)

    assert match_labels(same, truth).all()
    assert not match_labels(other, truth).any()
