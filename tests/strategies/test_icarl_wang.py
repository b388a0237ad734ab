"""OAK's iCaRL: single boxes in memory, and only objects count when they are replayed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.strategies.base_replay import MemoryOptions
from leocod.strategies.icarl_wang import ICaRLWang
from leocod.types import Labels, LossWeights, Step


def a_full_step(a_frame, index, classes, count):
    pairs = [a_frame(100 * index + number, classes) for number in range(count)]
    return Step(index, tuple(frame for frame, _ in pairs), {frame.id: labels for frame, labels in pairs})


def test_an_entry_is_a_frame_with_one_box_of_its_class(a_detector, a_frame):
    strategy = ICaRLWang(a_detector())

    strategy.learn(a_full_step(a_frame, 0, (0, 1, 1), 4))

    assert len(strategy.memory) == 4
    assert sorted(int(labels.classes[0]) for _, labels in strategy.memory.frames) == [0] * 4 + [1] * 4
    assert all(len(labels) == 1 for _, labels in strategy.memory.frames)


def test_one_entry_of_each_class_is_replayed_together_with_the_step(a_detector, a_frame):
    strategy = ICaRLWang(a_detector())
    strategy.learn(a_full_step(a_frame, 0, (0, 1, 2), 4))

    (batch,) = strategy.batches(a_full_step(a_frame, 1, (0,), 2))

    assert [int(labels.classes[0]) for labels in batch.labels[2:]] == [0, 1, 2]
    np.testing.assert_allclose(batch.shares, 1 / 5)


@pytest.mark.parametrize(("current", "ratio"), [(1, 1 / 3), (2, 2 / 3), (3, 1.0), (8, 1.0)])
def test_replayed_frames_count_as_current_by_replayed_and_never_more(a_detector, a_frame, current, ratio):
    strategy = ICaRLWang(a_detector())
    strategy.learn(a_full_step(a_frame, 0, (0, 1, 2), 4))

    (batch,) = strategy.batches(a_full_step(a_frame, 1, (0,), current))

    whole = LossWeights(background=(current + 3) / current)
    assert [labels.weights for labels in batch.labels] == [whole] * current + [LossWeights.all(ratio, background=0)] * 3


def test_background_has_the_weight_that_it_has_without_replay(a_detector, a_frame):
    """By hand: current frames without objects, so that all their loss is background, beside replayed objects."""
    strategy = ICaRLWang(a_detector())
    strategy.learn(a_full_step(a_frame, 0, (0, 1, 2), 4))
    empty = a_full_step(a_frame, 1, (), 2)
    alone = a_detector().loss([frame.image() for frame in empty.frames], [Labels.none()] * 2)["region_class"].mean()

    (batch,) = strategy.batches(empty)
    silent = [replace(one, weights=LossWeights.all(0)) for one in batch.labels[2:]]
    together = batch.mean(a_detector().loss(batch.images, [*batch.labels[:2], *silent]))["region_class"]

    torch.testing.assert_close(together, alone, rtol=0.05, atol=0)


def test_any_box_of_a_class_may_be_the_one(a_detector, a_frame):
    strategy = ICaRLWang(a_detector())
    frame, labels = a_frame(1, (1, 1, 1))

    picked = {tuple(one.boxes[0]) for _ in range(40) for _, one in strategy._single_boxes((frame, labels))}

    assert picked == {tuple(box) for box in labels.boxes}


def test_a_random_store_gives_as_many_as_there_are_classes(a_detector, a_frame):
    strategy = ICaRLWang(a_detector(), MemoryOptions(memory_store="random"))
    strategy.learn(a_full_step(a_frame, 0, (0, 1, 2), 4))

    (batch,) = strategy.batches(a_full_step(a_frame, 1, (0,), 2))

    assert len(batch.pairs) == 2 + 3


def test_the_background_of_a_replayed_frame_teaches_nothing(a_detector, a_frame):
    """By hand: the loss of a frame is that of its positives alone, scaled; a frame without positives has none."""
    (frame, labels), ratio = a_frame(1, (0,)), 0.5
    weights = LossWeights.all(ratio, background=0)
    positive_only = Labels(labels.boxes, labels.classes, weights=weights)
    whole = a_detector().loss([frame.image()], [labels])

    part = a_detector().loss([frame.image()], [positive_only])
    nothing = a_detector().loss([frame.image()], [Labels([], [], weights=weights)])

    torch.testing.assert_close(part["region_box"], ratio * whole["region_box"])
    torch.testing.assert_close(part["proposal_box"], ratio * whole["proposal_box"])
    assert 0 < part["region_class"].item() < ratio * whole["region_class"].item()
    assert 0 < part["proposal_class"].item() < ratio * whole["proposal_class"].item()
    assert all(value.item() == 0 for value in nothing.values())


def test_without_current_frames_there_is_no_update(a_detector, a_step):
    strategy = ICaRLWang(a_detector())
    strategy.learn(a_step(0))

    assert strategy.learn(a_step(1, labelled=0)).losses == {}


def test_a_frame_whose_background_counts_for_nothing_keeps_it_so(a_detector, a_frame):
    strategy = ICaRLWang(a_detector())
    strategy.learn(a_full_step(a_frame, 0, (0, 1), 4))
    step = a_full_step(a_frame, 1, (0,), 2)
    silent = {number: replace(one, weights=LossWeights.all(1.0, background=0.0)) for number, one in step.labels.items()}

    (batch,) = strategy.batches(replace(step, labels=silent))

    assert [labels.weights.background for labels in batch.labels[:2]] == [0.0, 0.0]
