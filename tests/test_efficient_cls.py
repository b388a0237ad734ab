"""Efficient-CLS: order of events, what is pseudo-labelled, what follows what. Each is easy to break silently."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from leocod.efficient_cls import EfficientCLS, EfficientCLSOptions
from leocod.strategies.icarl import ICaRL, ICaRLOptions
from leocod.types import Detections, Labels, LossWeights


def detections(*scores, classes=None, boxes=None):
    count = len(scores)
    # Far apart, unless the test says where.
    places = [[20 * n, 0, 20 * n + 10, 10] for n in range(count)] if boxes is None else boxes
    return Detections(
        np.array(places, np.float32).reshape(-1, 4),
        np.array(classes or [0] * count, np.int64),
        np.array(scores, np.float32),
    )


@pytest.fixture
def learner(a_detector):
    def make(recipe="released", **options):
        strategy = ICaRL(a_detector(), ICaRLOptions(recipe=recipe, replay_per_step=4))
        return EfficientCLS(strategy, EfficientCLSOptions(**options))

    return make


def sees(learner, found):
    """Let the slow learner find the same in every frame."""
    learner.slow.predict = lambda images: [found] * len(images)
    return learner


def weights(detector):
    return torch.cat([value.flatten().float() for value in detector.model.state_dict().values()])


def test_only_unlabelled_frames_get_pseudo_labels_and_only_confident_ones(learner, a_step):
    step = a_step(frames=4, labelled=1)

    pseudo = sees(learner(), detections(0.71, 0.7, 0.3)).pseudo_label(step)

    assert [frame.id for frame, _ in pseudo] == [1, 2, 3]
    assert all(len(labels) == 1 and labels.source == "pseudo" for _, labels in pseudo)


def test_what_is_nearly_sure_can_be_kept_out_of_the_background(learner, a_step):
    found = detections(0.9, 0.7, 0.4, 0.3, 0.2)

    (_, paper), *_ = sees(learner(), found).pseudo_label(a_step(labelled=0))
    (_, careful), *_ = sees(learner(unsure_above=0.3), found).pseudo_label(a_step(labelled=0))

    assert len(paper) == len(careful) == 1
    assert len(paper.unsure) == 0
    assert careful.unsure[:, 0].tolist() == [20, 40]
    assert careful.source == "pseudo"


def test_overlapping_labels_of_one_class_are_thinned_and_of_two_classes_kept(learner, a_step):
    box = [0, 0, 10, 10]
    found = detections(0.9, 0.8, 0.75, classes=[0, 0, 1], boxes=[box, box, box])

    (_, labels), *_ = sees(learner(), found).pseudo_label(a_step(labelled=0))

    assert labels.classes.tolist() == [0, 1]


def test_at_most_a_hundred_a_frame_or_what_is_set(learner, a_step):
    found = detections(*[0.9] * 7)

    (_, labels), *_ = sees(learner(most_per_frame=5), found).pseudo_label(a_step(labelled=0))

    assert len(labels) == 5


def test_proposals_do_not_learn_from_pseudo_labels_unless_asked(learner, a_step):
    (_, plain), *_ = sees(learner(pseudo_weight=0.5), detections(0.9)).pseudo_label(a_step(labelled=0))
    (_, asked), *_ = sees(learner(proposal_loss=True), detections(0.9)).pseudo_label(a_step(labelled=0))

    assert plain.weights == LossWeights(proposals=0, boxes=0.5, classes=0.5)
    assert asked.weights == LossWeights(1, 1, 1)


def test_frames_in_which_nothing_is_sure_count_as_empty_or_are_left_out(learner, a_step):
    step = a_step(frames=4, labelled=1)

    kept = sees(learner(), detections(0.2)).pseudo_label(step)
    dropped = sees(learner(empty_frames=False), detections(0.2)).pseudo_label(step)

    assert [len(labels) for _, labels in kept] == [0, 0, 0]
    assert dropped == []


def test_pseudo_labels_can_wait_or_be_switched_off(learner, a_step):
    waiting = sees(learner(warmup_steps=1), detections(0.9))

    assert waiting.learn(a_step(0)).pseudo == {}
    assert set(waiting.learn(a_step(1)).pseudo) == {6, 7}
    assert sees(learner(pseudo_labels=False), detections(0.9)).learn(a_step(0)).pseudo == {}


def test_the_fast_learner_can_be_the_labeller(learner, a_step):
    one = sees(learner(labeller="fast"), detections(0.9))
    one.strategy.detector.predict = lambda images: [detections(0.8, 0.9)] * len(images)

    (_, labels), *_ = one.pseudo_label(a_step(labelled=0))

    assert len(labels) == 2


def test_pseudo_labels_are_told_as_found_and_trained_on_augmented(learner, a_step):
    one = sees(learner(), detections(0.9))
    taught = []
    plain_learn = one.strategy.learn
    one.strategy.learn = lambda step: taught.append(step) or plain_learn(step)

    learned = one.learn(a_step(frames=4, labelled=1))

    assert learned.pseudo[1].boxes.tolist() == [[0, 0, 10, 10]]
    sizes = {frame.id: frame.size for frame in taught[0].frames}
    assert sizes[0] == (48, 64)
    assert sizes[1] == (43, 58)


def test_augmentation_can_be_switched_off(learner, a_step):
    one = sees(learner(augment=False), detections(0.9))
    taught = []
    plain_learn = one.strategy.learn
    one.strategy.learn = lambda step: taught.append(step) or plain_learn(step)

    one.learn(a_step())

    assert {frame.size for frame in taught[0].frames} == {(48, 64)}


def test_pseudo_labels_never_enter_the_memory(learner, a_step):
    one = sees(learner(), detections(0.9))

    for index in range(3):
        one.learn(a_step(index))

    assert one.memory.frames
    assert {labels.source for _, labels in one.memory.frames} == {"human"}
    assert {frame.id % 4 for frame, _ in one.memory.frames} <= {0, 1}


def test_the_slow_learner_labels_before_it_follows_and_follows_after_training(learner, a_step):
    one = learner(ema_warmup=False, keep=0.9)
    start = weights(one.slow).clone()
    seen = {}

    def predict(images):
        seen["labelling"] = weights(one.slow).clone()
        return [detections(0.9)] * len(images)

    one.slow.predict = predict
    one.learn(a_step())

    assert torch.equal(seen["labelling"], start)
    fast = weights(one.strategy.detector)
    assert not torch.equal(fast, start)
    torch.testing.assert_close(weights(one.slow), 0.9 * start + 0.1 * fast)


def test_at_first_the_slow_learner_follows_closely(learner, a_step):
    one = learner(keep=0.99)
    start = weights(one.slow).clone()

    one.learn(a_step())

    torch.testing.assert_close(weights(one.slow), 2 / 11 * start + 9 / 11 * weights(one.strategy.detector))


def test_without_ema_the_slow_learner_is_the_fast_one(learner, a_step):
    one = learner(ema=False)
    one.learn(a_step())

    assert one.slow is one.strategy.detector


def test_no_gradient_reaches_the_slow_learner(learner, a_step):
    one = learner()
    one.learn(a_step())

    assert all(parameter.grad is None for parameter in one.slow.parameters())


def test_true_boxes_can_take_the_place_of_pseudo_labels(a_detector, a_frame, a_step):
    true = {number: a_frame(number, (number % 3,))[1] for number in range(4)}
    one = EfficientCLS(ICaRL(a_detector()), labeller=lambda frames: [true[frame.id] for frame in frames])

    pseudo = one.learn(a_step(frames=4, labelled=1)).pseudo

    assert {number: labels.boxes.tolist() for number, labels in pseudo.items()} == {
        number: true[number].boxes.tolist() for number in (1, 2, 3)
    }
    assert all(labels.source == "pseudo" and labels.weights.proposals == 0 for labels in pseudo.values())


def test_the_present_does_not_gain_weight_by_pseudo_labels(learner, a_step):
    """Labelled and pseudo-labelled frames share one mean; the replayed past is a part of its own."""
    one = sees(learner(recipe="joint"), detections(0.9))
    one.learn(a_step(0))
    taught = []
    plain_update = one.strategy.update
    one.strategy.update = lambda batch: taught.append(batch) or plain_update(batch)

    one.learn(a_step(1))

    (batch,) = taught
    assert batch.name == "current+replay"
    np.testing.assert_allclose(batch.shares, [0.5 / 4] * 4 + [0.5 / 4] * 4)


def test_released_takes_two_updates_and_joint_one(learner, a_step):
    for recipe, names in (("released", ["current", "replay"]), ("joint", ["current+replay"])):
        one = learner(recipe=recipe)
        one.learn(a_step(0))

        losses = one.learn(a_step(1)).losses

        assert list(dict.fromkeys(name.split("/")[0] for name in losses)) == names


def test_a_bare_label_is_enough_at_full_annotation_cost(learner, a_step):
    one = learner()
    assert one.learn(a_step(frames=4, labelled=4)).pseudo == {}


def test_labels_of_the_given_step_stay_as_they_are(learner, a_step):
    step = a_step(frames=4, labelled=1)
    sees(learner(), detections(0.9)).learn(step)

    assert list(step.labels) == [0]
    assert isinstance(step.labels[0], Labels)
