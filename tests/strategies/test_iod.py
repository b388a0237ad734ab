"""Incremental object detection via meta-learning: boundaries, teacher, warp layer."""

from __future__ import annotations

import pytest
import torch

from leocod.errors import InvalidConfig
from leocod.strategies.iod import IOD, IODOptions
from leocod.training.batch import Batch


def weights_of(strategy):
    return {name: value.detach().clone() for name, value in strategy.detector.named_parameters()}


def changed(before, after):
    return {name for name in before if not torch.equal(before[name], after[name])}


def taught(detector, a_step, steps, **options):
    """A strategy that has learnt some steps; its warp layer rests unless it is said when it learns."""
    strategy = IOD(detector, IODOptions(**{"warp_every": 100, **options}))
    for index in range(steps):
        strategy.learn(a_step(index))
    return strategy


WARP = {"roi_heads.box_head.fc7.weight", "roi_heads.box_head.fc7.bias"}


def test_the_stream_trains_everything_but_the_warp_layer(a_detector, a_step):
    strategy = IOD(a_detector(), IODOptions(warp_every=100))
    before = weights_of(strategy)

    for index in range(3):
        strategy.learn(a_step(index))

    assert changed(before, weights_of(strategy)) == set(before) - WARP


def test_remembered_frames_train_the_warp_layer_and_nothing_else(a_detector, a_step):
    strategy = taught(a_detector(), a_step, 2, warp_every=2, warp_batch=3)
    before = weights_of(strategy)

    losses = strategy.learn(a_step(2, labelled=0)).losses

    assert changed(before, weights_of(strategy)) == WARP
    assert {name.split("/")[0] for name in losses} == {"warp"}
    assert losses["warp/proposal_class"] == losses["warp/proposal_box"] == 0


def test_the_warp_layer_sees_everything_remembered_once(a_detector, a_step):
    strategy = taught(a_detector(), a_step, 2, warp_every=2, warp_batch=3)

    batches = list(strategy.batches(a_step(2, labelled=0)))

    assert [len(batch.pairs) for batch in batches] == [3, 1]
    assert {frame.id for batch in batches for frame, _ in batch.pairs} == {
        frame.id for frame, _ in strategy.memory.frames
    }


def test_a_teacher_is_taken_at_every_declared_boundary(a_detector, a_step):
    strategy = IOD(a_detector(), IODOptions(boundary_every=2, warp_every=100))
    taken = []

    for index in range(4):
        strategy.learn(a_step(index))
        taken.append(strategy._teacher)

    assert taken[0] is None
    assert taken[1] is taken[2]
    assert taken[3] is not taken[2]
    assert strategy._known == [0, 1]


def test_the_teacher_knows_every_class_that_was_labelled_also_what_the_memory_was_not_offered(a_detector, a_step):
    strategy = IOD(a_detector(), IODOptions(boundary_every=1))

    for index in range(3):
        before = list(strategy._known)
        strategy.learn(a_step(index, frames=12, labelled=12))

    assert before == strategy._known == [0, 1, 2]


def test_the_temperature_reaches_the_distance(a_detector, a_step):
    apart = {}
    for temperature in (1.0, 6.0):
        strategy = taught(a_detector(), a_step, 3, boundary_every=2, temperature=temperature)
        apart[temperature] = strategy.penalty(Batch.mean_of("current", a_step(3).labelled()))["distil_classes"].item()

    assert apart[1.0] != pytest.approx(apart[6.0], rel=0.01)


def test_distillation_starts_with_the_teacher_and_is_zero_where_nothing_has_moved(a_detector, a_step):
    strategy = IOD(a_detector(), IODOptions(boundary_every=1, warp_every=100))

    first, second, third = (strategy.learn(a_step(index)).losses for index in range(3))

    distilled = {name for name in second if "distil" in name}
    assert not any("distil" in name for name in first)
    assert distilled == {f"current/distil_{part}" for part in ("features", "proposals", "classes", "boxes")}
    # The teacher of each step is the model it starts from.
    assert all(second[name] == pytest.approx(0, abs=1e-6) for name in distilled)
    assert third.keys() == second.keys()


def test_distillation_keeps_the_detector_nearer_to_its_teacher(a_detector, a_step):
    apart = {}
    for weight in (0.0, 50.0):
        strategy = taught(a_detector(), a_step, 7, boundary_every=4, distillation=weight)
        images = [frame.image() for frame in a_step(1).frames]
        distances = strategy.detector.distillation(
            images, strategy._teacher, classes=strategy._known, temperature=strategy.options.temperature
        )
        apart[weight] = sum(value.mean().item() for value in distances.values())

    assert apart[50.0] < 0.5 * apart[0.0]


def test_a_detector_without_a_region_head_is_refused(a_detector):
    detector = a_detector()
    named = [pair for pair in detector.named_parameters() if not pair[0].startswith("roi_heads")]
    detector.named_parameters = lambda: iter(named)

    with pytest.raises(InvalidConfig, match="'iod' trains a layer of the region head"):
        IOD(detector)
