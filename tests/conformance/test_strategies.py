"""What every strategy must hold to, bare and inside Efficient-CLS. A new file in strategies/ is found by itself."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.plugins.efficient_cls import EfficientCLS
from leocod.strategies.base import STRATEGIES
from leocod.types import Labels, Step

SOON = ("boundary_every", "warp_every")
"""Options that say after how many steps something happens: in a few steps it should have happened."""

NAMES = [*STRATEGIES.names(), "own_strategy:WorstFirst"]
"""All there are, and the one in examples/."""
LEARNERS = [(name, wrapped) for name in NAMES for wrapped in (False, True)]


@pytest.fixture(params=LEARNERS, ids=lambda one: one[0] + ("+efficient_cls" if one[1] else ""))
def make(request, a_detector):
    """Builds the learner anew, from the same weights. An untrained one is sure of nothing, so it is told boxes."""
    name, wrapped = request.param

    def build(seed=0):
        detector = a_detector(seed=0)
        kind = STRATEGIES.find(name)
        strategy = kind(
            detector, kind.Options(**{key: 2 for key in SOON if key in kind.Options.model_fields}), seed=seed
        )
        return EfficientCLS(strategy, seed=seed, labeller=sure_of_something) if wrapped else strategy

    return build


def sure_of_something(frames):
    """Pseudo labels with boxes in them, by the frame alone."""
    boxes = [[[5, 5, 25, 25 + frame.id % 7]] for frame in frames]
    return [Labels(np.array(box), np.array([frame.id % 3])) for box, frame in zip(boxes, frames, strict=True)]


def detector_of(learner):
    return (learner.strategy if isinstance(learner, EfficientCLS) else learner).detector


def weights(learner):
    return detector_of(learner).state_dict()["weights"]


def digest(learner) -> bytes:
    """Everything the next step depends on, as bytes."""
    buffer = io.BytesIO()
    torch.save(learner.state_dict(), buffer)
    return buffer.getvalue()


def same(one, two) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, two)
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(value, two[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(same(*pair) for pair in zip(one, two, strict=True))
    return bool(one == two)


def test_it_learns_an_empty_step(make):
    learner = make()
    before = weights(learner)

    learned = learner.learn(Step(0, (), {}))

    assert learned.losses == {}
    assert same(weights(learner), before)


def test_it_learns_a_step_without_labels(make, a_step):
    learned = make().learn(a_step(labelled=0))

    assert all(np.isfinite(value) for value in learned.losses.values())


def test_it_learns_a_fully_labelled_step_and_its_weights_move(make, a_step):
    learner = make()
    before = [found.scores for found in learner.predict([frame.image() for frame in a_step().frames])]

    losses = learner.learn(a_step(labelled=4)).losses
    learner.learn(a_step(1, labelled=4))

    after = [found.scores for found in learner.predict([frame.image() for frame in a_step().frames])]
    assert all(np.isfinite(value) for value in losses.values())
    assert not same([torch.from_numpy(one) for one in before], [torch.from_numpy(one) for one in after])


@pytest.mark.parametrize("store", ["balanced", "random"])
@pytest.mark.parametrize("name", NAMES)
def test_with_the_joint_recipe_and_either_store_it_learns_and_continues_from_a_state(name, store, a_detector, a_step):
    kind = STRATEGIES.find(name)
    chosen = {"recipe": "joint", "memory_store": store}
    options = kind.Options(**{key: value for key, value in chosen.items() if key in kind.Options.model_fields})
    one, two = (EfficientCLS(kind(a_detector(), options), labeller=sure_of_something) for _ in range(2))

    for index in range(2):
        losses = one.learn(a_step(index)).losses
    two.load_state_dict(one.state_dict())
    for learner in (one, two):
        learner.learn(a_step(2))

    assert all(np.isfinite(value) for value in losses.values())
    assert same(one.state_dict(), two.state_dict())


def test_the_given_step_stays_unchanged(make, a_step):
    step = a_step()
    pixels = [frame.image().copy() for frame in step.frames]
    boxes = {frame_id: labels.boxes.copy() for frame_id, labels in step.labels.items()}

    make().learn(step)

    assert list(step.labels) == list(boxes)
    for frame, before in zip(step.frames, pixels, strict=True):
        np.testing.assert_array_equal(frame.image(), before)
    for frame_id, before in boxes.items():
        np.testing.assert_array_equal(step.labels[frame_id].boxes, before)


def test_what_a_person_left_out_is_never_taught_as_background_also_when_it_is_replayed(make, a_step):
    def a_partial_step(index):
        step = a_step(index)
        return replace(step, labels={key: replace(one, complete=False) for key, one in step.labels.items()})

    before, learner = make(), make()
    for index in range(2):
        before.learn(a_partial_step(index))
    learner.load_state_dict(before.state_dict())
    taught, detector = [], detector_of(learner)
    loss = detector.loss
    detector.loss = lambda images, labels, seeds=None: taught.extend(labels) or loss(images, labels, seeds)
    learner.learn(a_partial_step(2))

    human = [labels for labels in taught if labels.source == "human"]
    assert human
    assert not any(labels.complete for labels in human)
    assert not any(labels.complete for _, labels in learner.remembered_frames())


def test_equal_seeds_give_equal_results_and_other_seeds_others(make, a_step):
    one, two, other = make(seed=3), make(seed=3), make(seed=4)

    for learner in (one, two, other):
        for index in range(3):
            learner.learn(a_step(index))

    assert same(one.state_dict(), two.state_dict())
    assert not same(weights(one), weights(other))


def test_saved_and_loaded_it_continues_identically(make, a_step):
    one = make()
    # Three: a step after the boundary, so that what was taken there is not what is there now.
    for index in range(3):
        one.learn(a_step(index))
    two = make(seed=9)
    two.load_state_dict(torch.load(io.BytesIO(digest(one)), weights_only=True))

    for learner in (one, two):
        for index in range(3, 5):
            learner.learn(a_step(index))

    assert same(one.state_dict(), two.state_dict())


def test_a_snapshot_is_not_changed_by_later_steps_and_can_be_handed_over(make, a_step):
    one, two = make(), make(seed=9)
    one.learn(a_step(0))
    state = one.state_dict()
    kept = torch.load(io.BytesIO(digest(one)), weights_only=True)

    two.load_state_dict(state)
    for learner in (one, two):
        learner.learn(a_step(1))

    assert same(one.state_dict(), two.state_dict())
    assert same(state, kept)


def test_predicting_in_between_changes_nothing_that_is_learnt(make, a_step):
    quiet, asked = make(), make()

    for index in range(3):
        quiet.learn(a_step(index))
        asked.learn(a_step(index))
        asked.predict([frame.image() for frame in a_step(index).frames])

    assert same(quiet.state_dict(), asked.state_dict())


def test_pseudo_labels_stay_out_of_its_memory(make, a_step):
    learner = make()
    for index in range(4):
        learned = learner.learn(a_step(index, labelled=1))
        assert not isinstance(learner, EfficientCLS) or all(len(labels) for labels in learned.pseudo.values())

    if learner.memory is not None:
        assert len(learner.memory)
        assert all(labels.source == "human" for _, labels in learner.memory.frames)
        assert all(frame.id % 4 == 0 for frame, _ in learner.memory.frames)


@pytest.mark.slow
def test_the_loss_falls(make, a_step):
    learner = make()
    steps = [a_step(index, frames=6, labelled=6) for index in range(3)]

    def loss():
        detector = (learner.strategy if isinstance(learner, EfficientCLS) else learner).detector.clone()
        pairs = [pair for step in steps for pair in step.labelled()]
        with torch.no_grad():
            parts = detector.loss([frame.image() for frame, _ in pairs], [labels for _, labels in pairs])
        return sum(value.mean().item() for value in parts.values())

    before = loss()
    for index in range(24):
        learner.learn(steps[index % 3])

    assert loss() < 0.7 * before


def test_frames_may_go_through_the_network_a_few_at_a_time(make, a_step):
    whole, few = make(), make()
    detector_of(few).to("cpu", frames_at_once=2)

    learned = [[learner.learn(a_step(index, frames=6, labelled=3)) for index in range(3)] for learner in (whole, few)]

    for one, two in zip(*learned, strict=True):
        assert two.losses == pytest.approx(one.losses, rel=1e-3, abs=1e-5)
    for name, value in weights(whole).items():
        torch.testing.assert_close(weights(few)[name], value, rtol=0, atol=2e-3, msg=name)


def test_a_class_may_come_later(make, a_step, a_frame):
    learner = make()
    for index in range(3):
        learner.learn(a_step(index))
    image = a_step(0).frames[0].image()
    boxes = [np.array([[2, 2, 20, 20]], np.float32)]
    before = detector_of(learner).class_logits([image], boxes)[0].detach()

    learner.extend_classes(["lamp", "bench"])

    after = detector_of(learner).class_logits([image], boxes)[0]
    assert torch.equal(after[:, :4], before)
    assert learner.classes == ("mug", "book", "car", "lamp", "bench")
    for index in range(3, 7):
        frame, labels = a_frame(100 + index, (0,))
        step = Step(index, (frame,), {frame.id: Labels(labels.boxes, [4])})
        assert all(np.isfinite(value) for value in learner.learn(step).losses.values())
    fresh = make()
    fresh.load_state_dict(learner.state_dict())
    assert same(fresh.state_dict(), learner.state_dict())
    assert fresh.learn(a_step(9)).losses == learner.learn(a_step(9)).losses


class Steep(torch.autograd.Function):
    """Nothing at all, with an infinite gradient."""

    @staticmethod
    def forward(_, value):
        return torch.zeros_like(value)

    @staticmethod
    def backward(_, gradient):
        return torch.full_like(gradient, float("inf"))


POISONS = {
    "no number": lambda value: value * float("nan"),
    "infinite": lambda value: value + float("inf"),
    "an infinite gradient": lambda value: value + Steep.apply(value),
}


def poison(detector, poisoned, update):
    """Spoil the losses of one update; returns how to take it back, and a list with an entry for each update."""
    plain, updates = detector.loss, []

    def loss(*batch):
        losses = plain(*batch)
        # A strategy may also ask for a loss to compare frames by.
        if torch.is_grad_enabled():
            updates.append(batch)
        spoilt = torch.is_grad_enabled() and len(updates) == update
        return {name: poisoned(value) for name, value in losses.items()} if spoilt else losses

    detector.loss = loss
    return lambda: setattr(detector, "loss", plain), updates


def as_learnt(learner):
    """All that a step may change but for the random generators, which have been asked."""
    state = learner.state_dict()
    strategy = dict(state.get("strategy", state))
    memory = strategy.pop("memory")
    held = None if memory is None else {key: value for key, value in memory.items() if key != "random"}
    kept = {key: value for key, value in strategy.items() if key not in ("random", "loss_scale")}
    return [kept, held, state.get("slow"), state.get("steps_learned")]


def updates_in(learner, step):
    back, updates = poison(detector_of(learner), None, 0)
    learner.learn(step)
    back()
    return len(updates)


@pytest.mark.parametrize(
    ("which", "poisoned"), [("first", "no number"), ("last", "infinite"), ("last", "an infinite gradient")]
)
def test_a_step_with_bad_numbers_leaves_it_as_it_was_and_it_goes_on_from_there(make, a_step, poisoned, which):
    learner, other = make(), make(seed=9)
    for index in range(2):
        learner.learn(a_step(index))
    other.load_state_dict(learner.state_dict())
    before = as_learnt(learner)
    update = 1 if which == "first" else updates_in(other, a_step(2))
    back, updates = poison(detector_of(learner), POISONS[poisoned], update)

    learned = learner.learn(a_step(2))

    assert len(updates) == update
    assert learned.refused is not None
    assert ("gradient" in learned.refused) == ("gradient" in poisoned)
    assert learned.losses == {}
    assert same(as_learnt(learner), before)
    back()
    other.load_state_dict(learner.state_dict())
    for one in (learner, other):
        assert one.learn(a_step(3)).refused is None
    assert not same(as_learnt(learner), before)
    assert same(learner.state_dict(), other.state_dict())
