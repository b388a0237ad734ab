"""Efficient-CLS: order of events, what is pseudo-labelled, what follows what. Each is easy to break silently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.evaluation.audit import check_labels
from leocod.events import PseudoLabelCheck
from leocod.plugins.diagnosis import CONTROLS, diagnose
from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
from leocod.plugins.pseudo_labellers.base import PseudoLabeller
from leocod.run.config import load_config
from leocod.run.experiment import build_strategy, wrap
from leocod.run.layers import parse_override
from leocod.strategies.icarl import ICaRL
from leocod.strategies.incremental import Incremental
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
        strategy = ICaRL(a_detector(), ICaRL.Options(recipe=recipe, replay_per_step=4))
        return EfficientCLS(strategy, EfficientCLSOptions(**options))

    return make


def sees(learner, found):
    """Let the slow learner find the same in every frame."""
    learner.slow.predict = lambda images: [found] * len(images)
    return learner


def weights(detector):
    return torch.cat([value.flatten().float() for value in detector.model.state_dict().values()])


def batches_of(learner):
    """A list that will hold what the strategy is trained on from now on."""
    batches = []
    plain_update = learner.strategy.update
    learner.strategy.update = lambda batch: batches.append(batch) or plain_update(batch)
    return batches


def losses_by_frame(learner, step):
    """Learn a first step: loss -> value of each of its frames, as the fast learner is trained on it."""
    losses = []
    plain_loss = learner.strategy.detector.loss
    learner.strategy.detector.loss = lambda *batch: losses.append(plain_loss(*batch)) or losses[-1]
    learner.learn(step)
    return {name: values.tolist() for name, values in losses[0].items()}


@torch.no_grad()
def kept_now(learner):
    """How much of itself the slow learner keeps at the next step: what is left of ones that follow zeros."""
    for value in learner.slow.model.state_dict().values():
        value.fill_(1)
    for value in learner.strategy.detector.model.state_dict().values():
        value.fill_(0)
    learner.consolidate()
    return weights(learner.slow).unique().item()


def test_only_unlabelled_frames_get_pseudo_labels_and_only_confident_ones(learner, a_step):
    step = a_step(frames=4, labelled=1)

    pseudo = sees(learner(), detections(0.71, 0.7, 0.3)).pseudo_label(step)

    assert [frame.id for frame, _ in pseudo] == [1, 2, 3]
    assert all(len(labels) == 1 and labels.source == "pseudo" for _, labels in pseudo)


@pytest.mark.parametrize(("threshold", "sure"), [(0.0, 4), (0.5, 2), (0.8, 1), (1.0, 0)])
def test_sure_is_what_scores_above_the_threshold_that_is_set(learner, a_step, threshold, sure):
    found = detections(0.9, 0.75, 0.5, 0.25)

    (_, labels), *_ = sees(learner(score_threshold=threshold), found).pseudo_label(a_step(labelled=0))

    assert len(labels) == sure


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


def test_proposals_learn_from_labelled_frames_and_from_pseudo_labelled_ones_only_when_asked(learner, a_step):
    found = detections(0.9, boxes=[[20, 15, 40, 35]])

    plain = losses_by_frame(sees(learner(), found), a_step(frames=4, labelled=1))
    asked = losses_by_frame(sees(learner(proposal_loss=True), found), a_step(frames=4, labelled=1))

    for name in ("proposal_class", "proposal_box"):
        assert plain[name] == [asked[name][0], 0, 0, 0]
        assert min(asked[name]) > 0
    for name in ("region_class", "region_box"):
        assert plain[name] == asked[name]


def test_lambda_scales_the_region_losses_of_pseudo_labelled_frames_and_nothing_else(learner, a_step):
    found = detections(0.9, boxes=[[20, 15, 40, 35]])

    full = losses_by_frame(sees(learner(), found), a_step(frames=4, labelled=1))
    quarter = losses_by_frame(sees(learner(pseudo_weight=0.25), found), a_step(frames=4, labelled=1))

    for name in ("region_class", "region_box"):
        assert min(full[name]) > 0
        assert quarter[name] == [full[name][0], *(value / 4 for value in full[name][1:])]
    for name in ("proposal_class", "proposal_box"):
        assert quarter[name] == full[name]


@pytest.mark.parametrize(("empty_frames", "trained_on"), [(True, [0, 1, 2, 3]), (False, [0])])
def test_frames_in_which_nothing_is_sure_are_told_and_trained_on_as_empty_or_left_out(
    learner, a_step, empty_frames, trained_on
):
    one = sees(learner(empty_frames=empty_frames), detections(0.2))
    batches = batches_of(one)

    told = one.learn(a_step(frames=4, labelled=1)).pseudo

    assert {number: len(labels) for number, labels in told.items()} == {1: 0, 2: 0, 3: 0}
    assert [frame.id for frame, _ in batches[0].pairs] == trained_on


def test_copies_of_labelled_frames_can_take_the_place_of_empty_ones(learner, a_step):
    one, step = learner(empty_frames="copies", augment=False), a_step(frames=4, labelled=2)
    one.slow.predict = lambda images: [detections(0.9 if number else 0.2) for number in range(len(images))]
    batches = batches_of(one)

    told = one.learn(step).pseudo

    assert {number: len(labels) for number, labels in told.items()} == {2: 0, 3: 1}
    frame, labels = batches[0].pairs[2]
    assert (frame.image() == step.frames[0].image()).all()
    assert labels.boxes.tolist() == step.labels[0].boxes.tolist()
    assert [pair[0].id for pair in batches[0].pairs] == [0, 1, 2, 3]


def remember_a_step(one, a_step):
    """Let it learn and remember a labelled step. Returns pixels -> boxes of what it remembers."""
    one.learn(a_step(0, frames=2, labelled=2))
    return {frame.image().tobytes(): labels.boxes.tolist() for frame, labels in one.memory.frames}


@pytest.mark.parametrize(("share", "count"), [(0, 0), (0.5, 1), (1, 2)])
def test_remembered_frames_take_the_place_of_a_share_of_the_unlabelled_ones(share, count, learner, a_step):
    one, step = learner(remembered_share=share, augment=False), a_step(1, frames=4, labelled=2)
    remembered = remember_a_step(sees(one, detections(0.9)), a_step)
    batches = batches_of(one)

    told = one.learn(step).pseudo

    pairs = {frame.id: (frame.image().tobytes(), labels) for frame, labels in batches[0].pairs}
    assert set(pairs) == {frame.id for frame in step.frames}
    recalled = {number: labels for number, (pixels, labels) in pairs.items() if pixels in remembered}
    assert len(recalled) == count
    assert all(remembered[pairs[number][0]] == labels.boxes.tolist() for number, labels in recalled.items())
    # No memory keeps them, and proposals are not trained on them: they count as what they replace.
    assert {(labels.source, labels.weights.proposals) for labels in recalled.values()} <= {("pseudo", 0.0)}
    assert set(told) == {frame.id for frame in step.unlabelled} - set(recalled)


def test_where_all_unlabelled_frames_make_room_for_remembered_ones_nobody_is_asked_to_label(learner, a_step):
    one = learner(remembered_share=1)
    remember_a_step(one, a_step)
    one.slow.predict = lambda images: pytest.fail("the labeller was asked")

    assert one.learn(a_step(1, frames=4, labelled=2)).pseudo == {}


def test_before_anything_is_remembered_and_without_replay_all_unlabelled_frames_get_pseudo_labels(a_detector, a_step):
    for strategy in (ICaRL(a_detector()), Incremental(a_detector())):
        one = sees(EfficientCLS(strategy, EfficientCLSOptions(remembered_share=1)), detections(0.9))

        told = one.learn(a_step(frames=4, labelled=2)).pseudo

        assert {number: len(labels) for number, labels in told.items()} == {2: 1, 3: 1}


def test_which_frames_are_recalled_and_where_goes_on_from_a_state(learner, a_step):
    one, other = (sees(learner(remembered_share=0.5), detections(0.9)) for _ in range(2))
    one.learn(a_step(0, frames=4, labelled=2))
    other.load_state_dict(one.state_dict())
    batches = [batches_of(side) for side in (one, other)]

    for side in (one, other):
        side.learn(a_step(1, frames=6, labelled=2))

    shown = [[(frame.id, frame.image().tobytes()) for batch in made for frame, _ in batch.pairs] for made in batches]
    assert shown[0] == shown[1]
    assert torch.equal(weights(one.slow), weights(other.slow))


def test_a_control_takes_the_place_of_remembered_frames_too(learner, a_step):
    one, step = learner(remembered_share=1, augment=False), a_step(1, frames=4, labelled=2)
    remember_a_step(sees(one, detections(0.9)), a_step)
    diagnose(one, "all_empty", no_truth)
    batches = batches_of(one)

    one.learn(step)

    assert [len(labels) for _, labels in batches[0].pairs[2:]] == [0, 0]


def no_truth(frames):
    raise AssertionError("a control asked for the truth")


def test_a_diagnosis_by_truth_leaves_no_place_for_remembered_frames(learner, a_step):
    one, step = learner(remembered_share=1, augment=False), a_step(1, frames=4, labelled=2)
    remember_a_step(sees(one, detections(0.9)), a_step)
    truth = Labels([[1, 2, 30, 40]], [2])
    diagnose(one, "true_boxes", lambda frames: [truth] * len(frames))
    batches = batches_of(one)

    one.learn(step)

    assert [labels.boxes.tolist() for _, labels in batches[0].pairs[2:]] == [truth.boxes.tolist()] * 2


def test_without_pseudo_labels_nothing_takes_the_place_of_unlabelled_frames(learner, a_step):
    one, step = learner(remembered_share=1, pseudo_labels=False), a_step(1, frames=4, labelled=2)
    remember_a_step(one, a_step)
    batches = batches_of(one)

    one.learn(step)

    assert [frame.id for frame, _ in batches[0].pairs] == [frame.id for frame in step.frames[:2]]


def test_every_round_recalls_anew(a_detector, a_step):
    strategy = ICaRL(a_detector(), ICaRL.Options(replay_per_step=4, rounds=3))
    one = EfficientCLS(strategy, EfficientCLSOptions(remembered_share=1, augment=False))
    for index in range(4):
        one.learn(a_step(index, frames=4, labelled=4))
    batches, step = batches_of(one), a_step(4, frames=4, labelled=1)

    one.learn(step)

    current = [batch for batch in batches if batch.name == "current"]
    recalled = [{frame.image().tobytes() for frame, _ in batch.pairs[1:]} for batch in current]
    assert [[frame.id for frame, _ in batch.pairs] for batch in current] == [[frame.id for frame in step.frames]] * 3
    assert recalled[0] != recalled[1] or recalled[1] != recalled[2]


def test_no_frame_of_a_step_is_held_once_it_is_learnt(learner, a_step):
    one = learner()

    one.learn(a_step(frames=4, labelled=2))

    assert one.strategy.show_again is None


def test_a_diagnosis_is_not_undone_by_copies(learner, a_step):
    one, step = sees(learner(empty_frames="copies", augment=False), detections(0.9)), a_step(frames=4, labelled=2)
    one.substitute = CONTROLS["all_empty"]
    batches = batches_of(one)

    one.learn(step)

    assert [len(labels) for _, labels in batches[0].pairs[2:]] == [0, 0]
    assert (batches[0].pairs[2][0].image() == step.frames[2].image()).all()


def test_classes_that_no_labelled_frame_of_the_step_shows_need_higher_scores(learner, a_step):
    step = a_step(frames=4, labelled=1)
    shown = int(step.labels[0].classes[0])
    other = (shown + 1) % 3
    found = detections(0.9, 0.8, classes=[other, shown])

    (_, labels), *_ = sees(learner(context=0.5), found).pseudo_label(step)
    (_, low), *_ = sees(learner(context=0.5, score_threshold=0.4), found).pseudo_label(step)
    (_, paper), *_ = sees(learner(), found).pseudo_label(step)

    assert labels.classes.tolist() == [shown]
    assert sorted(low.classes.tolist()) == sorted(paper.classes.tolist()) == sorted([shown, other])


def test_without_labelled_frames_no_class_counts_as_absent(learner, a_step):
    one = sees(learner(context=0.5), detections(0.9))

    told = one.pseudo_label(a_step(frames=4, labelled=0))

    assert [len(labels) for _, labels in told] == [1] * 4


def test_a_frame_that_is_checked_is_not_its_own_context(learner, a_step):
    step = a_step(frames=4, labelled=2)
    other = replace(step.labels[1], classes=(step.labels[0].classes + 1) % 3)
    step = replace(step, labels={**step.labels, 1: other})
    one = sees(learner(context=0.5), on_the_first_frame(step))

    assert one.learn(step).check == PseudoLabelCheck(labels=0, right=0)


def test_the_only_labelled_frame_of_a_step_is_checked_without_a_context(learner, a_step):
    step = a_step(frames=4, labelled=1)
    one = sees(learner(context=0.5), on_the_first_frame(step))

    assert one.learn(step).check == PseudoLabelCheck(labels=1, right=1)


def test_without_pseudo_labels_the_fast_learner_learns_what_the_bare_strategy_does(learner, a_step):
    one, bare = sees(learner(pseudo_labels=False), detections(0.9)), learner().strategy

    told = [one.learn(a_step(index)).pseudo for index in range(2)]
    for index in range(2):
        bare.learn(a_step(index))

    assert told == [{}, {}]
    assert torch.equal(weights(one.strategy.detector), weights(bare.detector))


def test_pseudo_labels_are_told_and_trained_on_only_after_the_warm_up(learner, a_step):
    one = sees(learner(warmup_steps=2), detections(0.9))
    batches = batches_of(one)

    told = [set(one.learn(a_step(index)).pseudo) for index in range(3)]

    assert told == [set(), set(), {10, 11}]
    current = [batch.pairs for batch in batches if batch.name == "current"]
    assert [[frame.id for frame, _ in pairs] for pairs in current] == [[0, 1], [4, 5], [8, 9, 10, 11]]


@pytest.mark.parametrize(("labeller", "classes"), [("slow", [0]), ("fast", [1, 1])])
def test_the_labeller_is_the_slow_learner_or_the_fast_one_as_set(learner, a_step, labeller, classes):
    one = sees(learner(labeller=labeller), detections(0.9))
    one.strategy.detector.predict = lambda images: [detections(0.9, 0.8, classes=[1, 1])] * len(images)

    pseudo = one.learn(a_step(frames=4, labelled=2)).pseudo

    assert {number: labels.classes.tolist() for number, labels in pseudo.items()} == {2: classes, 3: classes}


class Counting(PseudoLabeller):
    """Detects a thing that is one pixel wider in each step in which it was asked about unlabelled frames."""

    def __init__(self):
        self.asked = 0

    def detect(self, request):
        self.asked += 1
        found = Detections(
            np.array([[0, 0, 9 + self.asked, 9]], np.float32), np.array([0]), np.array([0.9], np.float32)
        )
        return [found] * len(request.frames)

    def state_dict(self):
        return {"asked": self.asked}

    def load_state_dict(self, state):
        self.asked = state["asked"]


def widths(learned):
    return {float(labels.boxes[0, 2]) for labels in learned.pseudo.values()}


def test_the_check_leaves_no_trace_in_the_pseudo_labeller_and_comes_before_it_sees_the_answer(learner, a_step):
    one = learner(labeller=f"{__name__}:Counting")
    asked = []
    one.label_writer.write = lambda request, write=one.label_writer.write: asked.append(request) or write(request)

    steps = [one.learn(a_step(index, frames=4, labelled=2)) for index in range(2)]

    assert [widths(learned) for learned in steps] == [{10}, {11}]
    assert [learned.check is not None for learned in steps] == [True, True]
    # The first labelled frame beside the other one, then the unlabelled frames beside both.
    assert [(len(request.frames), len(request.labelled)) for request in asked] == [(1, 1), (2, 2)] * 2


def test_a_pseudo_labeller_that_remembers_goes_on_from_a_checkpoint(learner, a_step):
    first, second = learner(labeller=f"{__name__}:Counting"), learner(labeller=f"{__name__}:Counting")
    for index in range(3):
        first.learn(a_step(index, frames=4, labelled=2))

    second.load_state_dict(first.state_dict())

    assert widths(second.learn(a_step(3, frames=4, labelled=2))) == {13}


def test_another_pseudo_labeller_begins_anew_where_a_run_goes_on(learner, a_step):
    first, second = learner(), learner(labeller=f"{__name__}:Counting")
    first.learn(a_step(0, frames=4, labelled=2))

    second.load_state_dict(first.state_dict())

    assert widths(second.learn(a_step(1, frames=4, labelled=2))) == {10}


def test_pseudo_labels_are_told_as_found_and_trained_on_augmented(learner, a_step):
    one = sees(learner(), detections(0.9))
    batches = batches_of(one)

    learned = one.learn(a_step(frames=4, labelled=1))

    assert learned.pseudo[1].boxes.tolist() == [[0, 0, 10, 10]]
    sizes = {frame.id: frame.size for frame, _ in batches[0].pairs}
    assert sizes[0] == (48, 64)
    assert sizes[1] == (43, 58)


def test_without_augmentation_pseudo_labelled_frames_are_trained_on_as_they_are(learner, a_step):
    one = sees(learner(augment=False), detections(0.9))
    step = a_step(frames=4, labelled=1)
    batches = batches_of(one)

    one.learn(step)

    shown = batches[0].pairs
    for (frame, _), given in zip(shown, step.frames, strict=True):
        np.testing.assert_array_equal(frame.image(), given.image())
    assert [labels.boxes.tolist() for _, labels in shown[1:]] == [[[0, 0, 10, 10]]] * 3


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


@pytest.mark.parametrize(("ema_warmup", "kept"), [(True, [2 / 11, 3 / 12, 0.3, 0.3]), (False, [0.3, 0.3, 0.3, 0.3])])
def test_only_with_ema_warm_up_the_slow_learner_keeps_less_at_first(learner, ema_warmup, kept):
    one = learner(keep=0.3, ema_warmup=ema_warmup)

    assert [kept_now(one) for _ in range(4)] == pytest.approx(kept)


@pytest.mark.parametrize("options", [{"pseudo_labels": False}, {"warmup_steps": 9}])
def test_the_slow_learner_follows_also_while_nothing_is_pseudo_labelled(learner, a_step, options):
    one = learner(keep=0, **options)

    one.learn(a_step())

    assert torch.equal(weights(one.slow), weights(one.strategy.detector))


@pytest.mark.parametrize(("ema", "same_as_fast"), [(True, False), (False, True)])
def test_people_see_the_slow_learner_and_without_ema_the_fast_one(learner, a_step, ema, same_as_fast):
    one = learner(ema=ema)
    images = [frame.image() for frame in a_step().frames]

    one.learn(a_step())

    seen, by_fast = (np.concatenate([found.scores for found in who.predict(images)]) for who in (one, one.strategy))
    assert np.array_equal(seen, by_fast) == same_as_fast


def test_without_ema_the_fast_learner_writes_the_pseudo_labels(learner, a_step):
    one = learner(ema=False)
    one.strategy.detector.predict = lambda images: [detections(0.9)] * len(images)

    pseudo = one.learn(a_step(frames=4, labelled=2)).pseudo

    assert {number: len(labels) for number, labels in pseudo.items()} == {2: 1, 3: 1}


def test_no_gradient_reaches_the_slow_learner(learner, a_step):
    one = learner()
    one.learn(a_step())

    assert all(parameter.grad is None for parameter in one.slow.parameters())


def test_true_boxes_can_take_the_place_of_pseudo_labels(a_detector, a_frame, a_step):
    true = {number: a_frame(number, (number % 3,))[1] for number in range(4)}
    one = EfficientCLS(ICaRL(a_detector()), labeller=lambda frames, labelled: [true[frame.id] for frame in frames])

    pseudo = one.learn(a_step(frames=4, labelled=1)).pseudo

    assert {number: labels.boxes.tolist() for number, labels in pseudo.items()} == {
        number: true[number].boxes.tolist() for number in (1, 2, 3)
    }
    assert all(labels.source == "pseudo" and labels.weights.proposals == 0 for labels in pseudo.values())


def test_the_present_does_not_gain_weight_by_pseudo_labels(learner, a_step):
    """Labelled and pseudo-labelled frames share one mean; the replayed past is a part of its own."""
    one = sees(learner(recipe="joint"), detections(0.9))
    one.learn(a_step(0))
    batches = batches_of(one)

    one.learn(a_step(1, frames=8, labelled=2))

    (batch,) = batches
    assert batch.name == "current+replay"
    np.testing.assert_allclose(batch.shares, [0.5 / 8] * 8 + [0.5 / 4] * 4)


@pytest.mark.parametrize(("recipe", "updates"), [("released", ["current", "replay"]), ("joint", ["current+replay"])])
def test_released_updates_on_current_frames_and_then_on_replayed_ones_and_joint_once(learner, a_step, recipe, updates):
    one = learner(recipe=recipe)
    one.learn(a_step(0))
    batches, done = batches_of(one), []
    one.strategy.optimizer.register_step_post_hook(lambda *_: done.append(batches[-1].name))

    one.learn(a_step(1))

    assert [batch.name for batch in batches] == done == updates


def test_every_switch_reaches_the_learner_from_the_command_line():
    plug_in = {"ema": False, "pseudo_labels": False, "labeller": "fast", "score_threshold": 0.5, "pseudo_weight": 0.5}
    plug_in |= {"proposal_loss": True, "augment": False, "ema_warmup": False, "warmup_steps": 3}
    texts = ["strategy.recipe=joint", *(f"efficient_cls.{name}={value}" for name, value in plug_in.items())]

    config = load_config(None, [parse_override(text) for text in texts])
    learner = wrap(config, build_strategy(config, ("mug", "book")), ("mug", "book"), None)

    assert learner.options == EfficientCLSOptions(**plug_in)
    assert learner.strategy.options.recipe == "joint"


def test_a_bare_label_is_enough_at_full_annotation_cost(learner, a_step):
    one = learner()
    assert one.learn(a_step(frames=4, labelled=4)).pseudo == {}


def test_labels_of_the_given_step_stay_as_they_are(learner, a_step):
    step = a_step(frames=4, labelled=1)
    sees(learner(), detections(0.9)).learn(step)

    assert list(step.labels) == [0]
    assert isinstance(step.labels[0], Labels)


def test_pseudo_labels_that_have_collapsed_are_warned_of_once_and_so_is_their_recovery(learner, a_step):
    plug_in = sees(learner(watch_steps=2), detections(0.1))

    warnings = [plug_in.learn(a_step(index)).warnings for index in range(3)]
    sees(plug_in, detections(0.9))
    warnings.append(plug_in.learn(a_step(3)).warnings)

    assert [len(one) for one in warnings] == [0, 1, 0, 1]
    assert warnings[1][0].startswith("Pseudo labels have collapsed")
    assert warnings[3] == ("Pseudo labels have recovered.",)


@pytest.mark.parametrize("pause", [True, False])
def test_while_they_have_collapsed_nothing_is_trained_on_them_if_asked_for(learner, a_step, pause):
    plug_in = sees(learner(watch_steps=1, flood=1.5, pause=pause), detections(0.9, 0.9))
    batches = batches_of(plug_in)

    learned = plug_in.learn(a_step(0))

    shown = [labels.source for labels in batches[0].labels]
    assert ("pseudo" in shown) == (not pause)
    # They were looked at, whether they are used or not.
    assert [len(labels) for labels in learned.pseudo.values()] == [2, 2]
    assert learned.warnings


def test_a_pause_ends_when_they_have_recovered(learner, a_step):
    plug_in = sees(learner(watch_steps=1, pause=True), detections(0.1))
    batches = batches_of(plug_in)
    plug_in.learn(a_step(0))
    assert all(labels.source == "human" for batch in batches for labels in batch.labels)

    sees(plug_in, detections(0.9))
    plug_in.learn(a_step(1))

    assert any(labels.source == "pseudo" for batch in batches for labels in batch.labels)


def test_the_watch_goes_on_from_a_state(learner, a_step):
    one, two = (sees(learner(watch_steps=2), detections(0.1)) for _ in range(2))
    one.learn(a_step(0))

    two.load_state_dict(one.state_dict())

    assert two.learn(a_step(1)).warnings


def test_after_a_refused_step_the_slow_learner_stays_where_it_is(learner, a_step):
    plug_in = learner()
    plug_in.learn(a_step(0))
    before = weights(plug_in.slow)
    plug_in.strategy.detector.loss = lambda images, labels, seeds: {"one": torch.full((len(images),), float("nan"))}

    assert plug_in.learn(a_step(1)).refused

    assert torch.equal(weights(plug_in.slow), before)
    assert plug_in.steps_learned == 1


def test_after_a_refused_step_the_pseudo_labeller_is_where_it_was(learner, a_step):
    plug_in = learner(labeller=f"{__name__}:Counting")
    good = plug_in.strategy.detector.loss
    plug_in.strategy.detector.loss = lambda images, labels, seeds: {"one": torch.full((len(images),), float("nan"))}

    refused = plug_in.learn(a_step(0, frames=4, labelled=2))
    plug_in.strategy.detector.loss = good
    learned = plug_in.learn(a_step(1, frames=4, labelled=2))

    assert refused.refused
    assert [widths(refused), widths(learned)] == [{10}, {10}]


def test_silence_is_noticed_also_where_empty_frames_are_left_out(learner, a_step):
    plug_in = sees(learner(watch_steps=2, empty_frames=False), detections(0.1))

    learned = [plug_in.learn(a_step(index)) for index in range(3)]

    assert [len(one.warnings) for one in learned] == [0, 1, 0]
    assert learned[1].warnings[0].startswith("Pseudo labels have collapsed: 0.00 a frame")


def on_the_first_frame(step):
    """What a person says is in the first frame of a step, found with a high score."""
    labels = step.labels[step.frames[0].id]
    return detections(*[0.9] * len(labels), classes=labels.classes.tolist(), boxes=labels.boxes)


def test_the_labeller_is_asked_about_the_first_labelled_frame_before_it_is_learnt(learner, a_step):
    step, one = a_step(frames=4, labelled=2), learner()
    asked = []

    def predict(images):
        asked.append(([image.tobytes() for image in images], one.steps_learned))
        return [on_the_first_frame(step)] * len(images)

    one.slow.predict = predict
    check = one.learn(step).check

    unlabelled, first = ([frame.image().tobytes() for frame in part] for part in (step.frames[2:], step.frames[:1]))
    # In a call of its own: beside a frame of another size, others would be found a little differently.
    assert asked == [(first, 0), (unlabelled, 0)]
    assert check == PseudoLabelCheck(labels=1, right=1)


def test_only_what_it_is_sure_of_is_checked(learner, a_step):
    one = sees(learner(), detections(0.9, 0.8, 0.3, classes=[2, 2, 2]))

    assert one.learn(a_step(frames=4, labelled=2)).check == PseudoLabelCheck(labels=2, right=0)


@pytest.mark.parametrize(
    ("options", "labelled"), [({"pseudo_labels": False}, 2), ({"warmup_steps": 1}, 2), ({}, 0), ({}, 4)]
)
def test_nothing_is_checked_where_there_is_nothing_to_compare_or_to_write(learner, a_step, options, labelled):
    assert sees(learner(**options), detections(0.9)).learn(a_step(frames=4, labelled=labelled)).check is None


def test_labels_that_are_not_complete_are_compared_with_nothing(learner, a_step):
    plug_in, step = sees(learner(), detections(0.9)), a_step(frames=4, labelled=2)
    first, second = step.labels
    partly = {first: replace(step.labels[first], complete=False), second: step.labels[second]}

    check = plug_in.learn(replace(step, labels=partly)).check
    nothing = plug_in.learn(replace(step, labels={first: partly[first]})).check

    assert check == check_labels(Labels(detections(0.9).boxes, detections(0.9).classes), step.labels[second])
    assert nothing is None
    assert plug_in.monitor.state_dict()["counts"][0][:2] == [1, len(step.labels[second])]


def test_a_labeller_from_outside_is_not_checked(a_detector, a_step):
    one = EfficientCLS(ICaRL(a_detector()), labeller=lambda frames, labelled: [Labels.none()] * len(frames))

    assert one.learn(a_step(frames=4, labelled=1)).check is None


def test_labels_that_are_mostly_wrong_are_warned_of_once(learner, a_step):
    plug_in = sees(learner(), detections(*[0.9] * 10, classes=[2] * 10))

    warnings = [plug_in.learn(a_step(index)).warnings for index in range(3)]

    assert [len(one) for one in warnings] == [0, 1, 0]
    assert warnings[1][0].startswith("Pseudo labels are mostly wrong: in the last 2 steps 0 of 20 ")


def test_the_check_changes_nothing_that_is_learnt(learner, a_step):
    checked, unchecked = learner(score_threshold=0.0), learner(score_threshold=0.0)
    unchecked._check_labeller = lambda step: None
    for index in range(3):
        assert checked.learn(a_step(index)).check is not None
        assert unchecked.learn(a_step(index)).check is None

    assert torch.equal(weights(checked.strategy.detector), weights(unchecked.strategy.detector))
    assert checked.random.bit_generator.state == unchecked.random.bit_generator.state


@pytest.mark.parametrize("share", [0.25, 0.6])
def test_labelled_frames_have_the_share_that_is_set_however_few_they_are(learner, a_step, share):
    one = sees(learner(labelled_share=share), detections(0.9))
    batches = batches_of(one)

    one.learn(a_step(frames=8, labelled=2))

    counts = [weight.classes * part for weight, part in zip(weights_of(batches[0]), batches[0].shares, strict=True)]
    np.testing.assert_allclose(sum(counts[:2]), share)
    np.testing.assert_allclose(sum(counts), 1)
    assert [weight.proposals > 0 for weight in weights_of(batches[0])] == [True] * 2 + [False] * 6


def weights_of(batch):
    return [labels.weights for labels in batch.labels]


def test_the_share_is_of_one_step_and_is_not_remembered(learner, a_step):
    one = sees(learner(labelled_share=0.6), detections(0.9))

    one.learn(a_step(frames=8, labelled=2))

    assert {labels.weights for _, labels in one.memory.frames} == {LossWeights()}


def test_pseudo_labelled_frames_are_weighed_once():
    with pytest.raises(ValueError, match="leave one out"):
        EfficientCLSOptions(labelled_share=0.5, pseudo_weight=0.3)


def test_a_diagnosis_changes_what_is_taught_and_not_what_is_told(learner, a_step):
    one = sees(learner(), detections(0.9))
    one.substitute = CONTROLS["all_empty"]
    batches = batches_of(one)

    learned = one.learn(a_step(frames=4, labelled=1))

    assert {len(labels) for labels in learned.pseudo.values()} == {1}
    assert [len(labels) for labels in batches[0].labels][1:] == [0, 0, 0]


def test_each_round_has_an_augmentation_of_its_own(learner, a_step):
    wrapped = sees(learner(), detections(0.9))
    wrapped.strategy.options = wrapped.strategy.options.model_copy(update={"rounds": 3})
    batches = batches_of(wrapped)

    wrapped.learn(a_step(labelled=1))

    current = [batch for batch in batches if batch.name == "current"]
    shown = [next(frame for frame, labels in batch.pairs if labels.source == "pseudo").image() for batch in current]
    assert len(shown) == 3
    assert not any(np.array_equal(one, two) for one, two in ((shown[0], shown[1]), (shown[1], shown[2])))


def test_the_slow_learner_follows_once_a_step_however_many_rounds_it_has(learner, a_step):
    wrapped = sees(learner(ema_warmup=False, keep=0.5), detections())
    wrapped.strategy.options = wrapped.strategy.options.model_copy(update={"rounds": 3})
    before = weights(wrapped.slow)

    wrapped.learn(a_step(labelled=2))

    fast = weights(wrapped.strategy.detector)
    torch.testing.assert_close(weights(wrapped.slow), (before + fast) / 2)
    assert wrapped.steps_learned == 1
