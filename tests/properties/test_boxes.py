"""Boxes: what labels and detections hold, how overlaps are counted, what anchors become, how files' boxes are cut."""

from __future__ import annotations

import copy
from math import inf, nan
from pathlib import Path
from typing import Any

import arbitrary
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as some
from torchvision.models.detection._utils import BoxCoder, Matcher
from torchvision.ops import clip_boxes_to_image

from leocod.boxes import pairwise_iou
from leocod.errors import InvalidLabels
from leocod.networks.targets import (
    BACKGROUND,
    IGNORED,
    PaddedBoxes,
    TrainingTargets,
    ignore_unsure,
    match,
    padded_iou,
    pick,
    sample,
    sum_by_frame,
)
from leocod.readers.annotations import Annotation, clip_box, make_labels, parse_box
from leocod.readers.recording import FrameProblems, Problem
from leocod.types import Detections, Labels, Step

many_boxes = some.lists(arbitrary.boxes(), min_size=1, max_size=12).map(arbitrary.array)
wrong_boxes = some.sampled_from(
    [(3, 0, 3, 5), (0, 5, 9, 5), (9, 0, 3, 5), (0, 9, 3, 5), (nan, 0, 3, 5), (0, 0, inf, 5), (-inf, 0, 3, 5)]
)
junk = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=5) | some.dictionaries(some.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
four_numbers = some.lists(some.integers(-2, 5) | some.sampled_from([0.5, nan, inf, 1e9]), min_size=4, max_size=4)
places = some.floats(-60, 90)
extents = some.tuples(places, some.floats(0.001, 90)).map(lambda two: (two[0], two[0] + two[1]))


# -- what labels and detections hold


@given(arbitrary.labels())
def test_a_copy_of_labels_has_all_they_had_and_cannot_be_written_to(labels: Labels) -> None:
    twin = copy.deepcopy(labels)

    for part in ("boxes", "classes", "unsure", "logits"):
        own, other = getattr(labels, part), getattr(twin, part)
        np.testing.assert_array_equal(own, other)
        assert own is None or not (own.flags.writeable or other.flags.writeable)
    assert (twin.source, twin.weights, twin.bytes) == (labels.source, labels.weights, labels.bytes)


@given(many_boxes)
def test_labels_do_not_change_with_the_array_they_were_made_of(boxes: Any) -> None:
    given_boxes = boxes.copy()
    labels = Labels(given_boxes, np.zeros(len(boxes), np.int64), unsure=given_boxes)

    given_boxes[:] = 0

    np.testing.assert_array_equal(labels.boxes, boxes)
    np.testing.assert_array_equal(labels.unsure, boxes)


@given(many_boxes, wrong_boxes, some.data())
def test_a_box_that_cannot_be_is_refused_by_its_number(boxes: Any, wrong: Any, data: Any) -> None:
    number = data.draw(some.integers(0, len(boxes)))
    rows = np.insert(boxes, number, arbitrary.array([wrong]), axis=0)

    with pytest.raises(InvalidLabels, match=rf"^Box {number} is .*x1 < x2 and y1 < y2\.$"):
        Labels(rows, np.zeros(len(rows), np.int64))


@given(arbitrary.detections(), arbitrary.scores, arbitrary.scores)
def test_two_thresholds_leave_what_the_higher_one_leaves(found: Detections, one: float, two: float) -> None:
    both = found.above(one).above(two)
    higher = found.above(max(one, two))

    assert both.scores.tolist() == higher.scores.tolist() == [each for each in found.scores if each > max(one, two)]
    np.testing.assert_array_equal(both.boxes, higher.boxes)
    np.testing.assert_array_equal(both.classes, higher.classes)


@given(some.lists(some.sampled_from(["human", "pseudo", None]), max_size=6), some.data())
def test_labelled_and_unlabelled_frames_are_all_frames_and_new_labels_move_between_them(
    sources: list[Any], data: Any
) -> None:
    frames = tuple(arbitrary.frame(number) for number in range(len(sources)))
    revealed = {n: Labels([[0, 0, 1, 1]], [0], source) for n, source in enumerate(sources) if source}
    step = Step(0, frames, revealed)
    newly = data.draw(some.lists(some.sampled_from(step.unlabelled), unique=True)) if step.unlabelled else []

    later = step.with_labelled([(one, Labels.none()) for one in newly])

    assert sorted([one.id for one, _ in step.labelled()] + [one.id for one in step.unlabelled]) == [*range(len(frames))]
    assert [len(step.labelled(who)) for who in ("human", "pseudo")] == [sources.count("human"), sources.count("pseudo")]
    assert [one.id for one in later.unlabelled] == [one.id for one in step.unlabelled if one not in newly]
    assert set(step.labels) == set(revealed)


# -- overlaps and matching


@given(many_boxes, many_boxes)
def test_overlap_is_symmetric_from_0_to_1_and_the_same_in_networks_and_evaluation(one: Any, two: Any) -> None:
    iou = pairwise_iou(one, two)

    np.testing.assert_array_equal(iou, pairwise_iou(two, one).T)
    assert ((iou >= 0) & (iou <= 1)).all()
    np.testing.assert_array_equal(np.diag(pairwise_iou(one, one)), 1.0)
    truth = PaddedBoxes.of([Labels(one, np.zeros(len(one), np.int64))], torch.ones(1, 2))
    np.testing.assert_allclose(padded_iou(truth, torch.tensor(two))[0], iou, atol=2e-3)


@given(many_boxes, many_boxes, some.integers(-50, 50), some.sampled_from([0.25, 2.0, 8.0]))
def test_overlap_does_not_change_when_everything_moves_or_grows(one: Any, two: Any, way: int, factor: float) -> None:
    iou = pairwise_iou(one, two)

    np.testing.assert_allclose(pairwise_iou(one * factor, two * factor), iou, rtol=0, atol=1e-12)
    # Moved by whole pixels, but in 32 bits.
    np.testing.assert_allclose(pairwise_iou(one + way, two + way), iou, rtol=0, atol=5e-2)


@given(arbitrary.truths(most=5), many_boxes, some.booleans())
def test_matching_is_torchvisions_but_for_true_boxes_that_nothing_overlaps(
    truth: Labels, boxes: Any, best_too: bool
) -> None:
    rows = PaddedBoxes.of([truth], torch.ones(1, 2))
    iou = padded_iou(rows, torch.tensor(boxes))[0, : len(truth)]

    matched, verdict = match(rows, torch.tensor(boxes), above=0.6, below=0.3, best_too=best_too)

    if not len(truth):
        assert (verdict == BACKGROUND).all()
        return
    touched = iou[(iou > 0).any(dim=1)] if best_too and (iou > 0).any() else iou
    theirs = Matcher(0.6, 0.3, allow_low_quality_matches=best_too and bool((iou > 0).any()))(touched)
    assert torch.equal(verdict[0] == 1, theirs >= 0)
    assert torch.equal(verdict[0] == BACKGROUND, theirs == Matcher.BELOW_LOW_THRESHOLD)
    assert torch.equal(verdict[0] == IGNORED, theirs == Matcher.BETWEEN_THRESHOLDS)
    assert torch.equal(iou.gather(0, matched), iou.max(dim=0, keepdim=True).values)


@given(arbitrary.truths(most=5), many_boxes)
def test_no_object_that_anything_overlaps_is_left_without_a_box_of_its_own(truth: Labels, boxes: Any) -> None:
    rows = PaddedBoxes.of([truth], torch.ones(1, 2))

    _, verdict = match(rows, torch.tensor(boxes), above=0.99, below=0.3, best_too=True)

    iou = padded_iou(rows, torch.tensor(boxes))[0, : len(truth)]
    for own in iou:
        if own.max() > 0:
            assert (verdict[0][own == own.max()] == 1).all()


@given(some.lists(arbitrary.truths(), min_size=1, max_size=3), many_boxes)
def test_a_frame_is_matched_the_same_alone_and_beside_others(truths: list[Labels], boxes: Any) -> None:
    anchors = torch.tensor(boxes)
    together = match(PaddedBoxes.of(truths, torch.ones(len(truths), 2)), anchors, above=0.5, below=0.3, best_too=True)

    for number, truth in enumerate(truths):
        alone = match(PaddedBoxes.of([truth], torch.ones(1, 2)), anchors, above=0.5, below=0.3, best_too=True)
        assert torch.equal(alone[1][0], together[1][number])
        assert torch.equal(alone[0][0], together[0][number])


@given(arbitrary.truths(), some.lists(arbitrary.boxes(), max_size=3), many_boxes)
def test_what_is_unsure_silences_background_over_it_and_nothing_else(truth: Labels, unsure: Any, boxes: Any) -> None:
    labels = Labels(truth.boxes, truth.classes, unsure=arbitrary.array(unsure))
    targets = TrainingTargets.of([labels], torch.ones(1, 2), seeds=[0])
    anchors = torch.tensor(boxes)
    _, before = match(targets.truth, anchors, above=0.5, below=0.3, best_too=False)

    after = ignore_unsure(before, targets.unsure, anchors)

    over = (padded_iou(targets.unsure, anchors)[0] >= 0.5).any(dim=0)
    assert torch.equal(after[0] != before[0], over & (before[0] == BACKGROUND))
    assert (after[after != before] == IGNORED).all()
    assert torch.equal(ignore_unsure(after, targets.unsure, anchors), after)


verdicts = some.integers(1, 30).flatmap(
    lambda width: some.lists(
        some.lists(some.sampled_from([1, BACKGROUND, IGNORED]), min_size=width, max_size=width), min_size=1, max_size=3
    )
)


@given(verdicts, some.integers(1, 40), some.sampled_from([0.0, 0.25, 0.5, 1.0]), arbitrary.seeds)
def test_as_many_are_drawn_as_there_are_and_may_be_and_the_luckiest(
    rows: list[list[int]], count: int, positives: float, seed: int
) -> None:
    verdict = torch.tensor(rows)
    chance = torch.rand(verdict.shape, generator=torch.Generator().manual_seed(seed))

    positions, drawn = sample(verdict, chance, count=count, positives=positives)

    for row, luck, where, which in zip(verdict, chance, positions, drawn, strict=True):
        chosen = where[which].tolist()
        own = [number for number in chosen if row[number] == 1]
        other = [number for number in chosen if row[number] == BACKGROUND]
        assert len(set(chosen)) == len(chosen) == len(own) + len(other)
        assert len(own) == min(int((row == 1).sum()), int(count * positives))
        assert len(other) == min(int((row == BACKGROUND).sum()), count - len(own))
        for name, taken in ((1, own), (BACKGROUND, other)):
            left = [number for number in range(len(row)) if row[number] == name and number not in taken]
            if taken and left:
                assert luck[taken].min() >= luck[left].max()


@given(some.integers(0, 2**61), some.integers(1, 70), some.integers(0, 70), some.sampled_from([0, 1]))
def test_luck_does_not_depend_on_how_long_a_row_is(seed: int, length: int, more: int, draw: int) -> None:
    targets = TrainingTargets.of([Labels.none(), Labels.none()], torch.ones(2, 2), seeds=[seed, seed + 1])

    short, long = (
        targets.random_scores(draw, torch.zeros(2, length)),
        targets.random_scores(draw, torch.zeros(2, length + more)),
    )

    assert torch.equal(short, long[:, :length])
    assert not torch.equal(
        targets.random_scores(1 - draw, torch.zeros(2, 70)), targets.random_scores(draw, torch.zeros(2, 70))
    )


@given(some.lists(some.tuples(some.integers(0, 3), some.integers(-8, 8)), max_size=10))
def test_values_of_regions_are_added_up_in_their_frame(pairs: list[tuple[int, int]]) -> None:
    frame, value = torch.tensor([one for one, _ in pairs], dtype=torch.int64), torch.tensor([two for _, two in pairs])

    summed = sum_by_frame(value.float(), frame, frames=4)

    assert summed.tolist() == [sum(two for one, two in pairs if one == number) for number in range(4)]


@given(some.lists(some.lists(some.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=4), arbitrary.seeds)
def test_picking_takes_from_each_row_its_own(positions: list[list[int]], seed: int) -> None:
    values = torch.rand(len(positions), 6, 4, generator=torch.Generator().manual_seed(seed))

    picked = pick(values, torch.tensor(positions))

    for row, places_of_row in enumerate(positions):
        for number, place in enumerate(places_of_row):
            assert torch.equal(picked[row, number], values[row, place])


# -- coding and cutting


@given(arbitrary.boxes((600, 800)), arbitrary.boxes((600, 800)), some.sampled_from([1.0, 10.0]))
def test_what_is_coded_against_a_place_decodes_to_the_same_box(goal: Any, place: Any, weight: float) -> None:
    box, anchor = arbitrary.array([goal]), arbitrary.array([place])
    lengths, anchor_lengths = box[:, 2:] - box[:, :2], anchor[:, 2:] - anchor[:, :2]
    assume((anchor_lengths >= 1).all())
    # The coder does not make a place more than 62 times as large.
    assume((lengths / anchor_lengths < 60).all())
    coder = BoxCoder((weight, weight, weight / 2, weight / 2))

    deltas = coder.encode_single(torch.tensor(box), torch.tensor(anchor))

    np.testing.assert_allclose(coder.decode_single(deltas, torch.tensor(anchor)), box, atol=2e-2)


@given(some.lists(some.tuples(places, places, places, places), max_size=8), arbitrary.sizes)
def test_clipping_puts_boxes_inside_and_leaves_what_is_inside(rows: Any, size: tuple[int, int]) -> None:
    boxes = torch.tensor(arbitrary.array(rows))

    clipped = clip_boxes_to_image(boxes, size)

    height, width = size
    assert ((clipped >= 0) & (clipped <= torch.tensor([width, height, width, height]))).all()
    assert torch.equal(clip_boxes_to_image(clipped, size), clipped)
    inside = ((boxes >= 0) & (boxes <= torch.tensor([width, height, width, height]))).all(dim=1)
    assert torch.equal(clipped[inside], boxes[inside])


@given(some.lists(some.tuples(arbitrary.truths(), some.integers(1, 8), some.integers(1, 8)), min_size=1, max_size=3))
def test_true_boxes_are_scaled_to_the_input_each_frame_by_its_own_scale(frames: list[tuple[Labels, int, int]]) -> None:
    truth = PaddedBoxes.of([labels for labels, _, _ in frames], torch.tensor([[x / 4, y / 4] for _, x, y in frames]))

    assert truth.real.sum(dim=1).tolist() == [len(labels) for labels, _, _ in frames]
    for number, (labels, x, y) in enumerate(frames):
        own = truth.real[number]
        np.testing.assert_allclose(
            truth.boxes[number][own], labels.boxes * np.array([x, y, x, y]) / 4, rtol=1e-6, atol=1e-6
        )
        assert truth.classes[number][own].tolist() == (labels.classes + 1).tolist()
        assert not truth.classes[number][~own].any()


@given(arbitrary.boxes())
def test_both_forms_of_a_box_are_one_box(box: Any) -> None:
    x1, y1, x2, y2 = box

    assert parse_box([x1, y1, x2 - x1, y2 - y1], "xywh") == pytest.approx(parse_box(list(box), "xyxy"))


@given(some.tuples(extents, extents).map(lambda two: (two[0][0], two[1][0], two[0][1], two[1][1])), arbitrary.sizes)
def test_the_part_of_a_box_inside_its_frame_is_inside_both_and_fits_as_it_is(box: Any, size: tuple[int, int]) -> None:
    meets = box[0] < size[1] and box[1] < size[0] and box[2] > 0 and box[3] > 0

    if not meets:
        assert clip_box(box, size)[0] is None
        return
    inside, outside = clip_box(box, size)

    assert 0 <= inside[0] < inside[2] <= size[1]
    assert 0 <= inside[1] < inside[3] <= size[0]
    assert outside == max(abs(own - cut) for own, cut in zip(box, inside, strict=True))
    assert clip_box(inside, size) == (inside, 0.0)


@given(junk | four_numbers, some.sampled_from(["xyxy", "xywh"]))
def test_whatever_a_file_calls_a_box_is_a_box_or_told_in_one_line(value: Any, form: Any) -> None:
    box, said = None, ""
    try:
        box = parse_box(value, form)
    except ValueError as error:
        said = str(error)

    if box is None:
        assert said.startswith("the box is ")
        assert said.splitlines() == [said]
    else:
        assert box[0] < box[2]
        assert box[1] < box[3]
        assert np.isfinite(box).all()


marks = some.tuples(
    some.sampled_from(["mug", "book", "dog", "no one", 7, True, None]) | junk,
    some.tuples(places, places, places, places).map(list) | arbitrary.boxes().map(list) | junk,
    some.sampled_from(["xyxy", "xywh"]),
)


@given(some.lists(marks, max_size=4), arbitrary.sizes)
def test_the_marks_of_a_frame_are_labels_inside_it_or_told_one_by_one(rows: Any, size: tuple[int, int]) -> None:
    told: list[Problem] = []
    problems = FrameProblems(told.append, Path("a.json"), "image 5", 3)

    labels = make_labels(
        [Annotation(f"mark {number}", *row) for number, row in enumerate(rows)],
        size,
        {"mug": 1, "book": 0, "dog": None},
        problems,
    )

    broken = [problem for problem in told if problem.breaks]
    assert (labels is None) == bool(broken) == problems.broken
    assert all("\n" not in str(problem) and str(problem).startswith("a.json, ") for problem in told)
    assert all(problem.frame == 3 for problem in broken)
    if labels is not None:
        assert len(labels) == sum(row[0] != "dog" for row in rows)
        assert (labels.boxes >= 0).all()
        assert (labels.boxes[:, 2:] <= np.array([size[1], size[0]])).all()
