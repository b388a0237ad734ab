"""What every strategy must hold to, bare and inside Efficient-CLS."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from leocod.conformance.bad_numbers import POISONS, learn_poisoned
from leocod.conformance.rules import (
    Rule,
    Trial,
    TriedLearner,
    detector_of,
    find_difference,
    require,
    require_finite,
)
from leocod.conformance.samples import make_frame, make_step
from leocod.types import Labels, Step

STATE_CURE = "What later steps depend on belongs in state_dict."


def learn_empty_step(trial: Trial) -> None:
    """A step without frames changes nothing."""
    learner = trial.build()
    before = detector_of(learner).state_dict()

    learned = learner.learn(Step(0, (), {}))

    require(not learned.losses, f"A step without frames has losses: {', '.join(learned.losses)}.")
    changed = find_difference(before, detector_of(learner).state_dict())
    require(changed is None, f"A step without frames changed {changed}. `batches` should yield nothing for it.")


def learn_without_labels(trial: Trial) -> None:
    """A step in which nobody labelled a frame can be learnt."""
    require_finite(trial.build().learn(make_step(labelled=0)).losses)


def learn_all_labels(trial: Trial) -> None:
    """Labels change what is detected."""
    learner = trial.build()
    images = [frame.image() for frame in make_step().frames]
    before = [found.scores for found in learner.predict(images)]

    losses = learner.learn(make_step(labelled=4)).losses
    learner.learn(make_step(1, labelled=4))

    require_finite(losses)
    after = [found.scores for found in learner.predict(images)]
    require(find_difference(before, after) is not None, "Two labelled steps changed nothing that it detects.")


def learn_jointly(trial: Trial) -> None:
    """Every recipe and store is learnt with, and a state of it can be continued."""
    for store in ("balanced", "random"):
        one, two = (trial.build(recipe="joint", memory_store=store) for _ in range(2))
        for index in range(2):
            require_finite(one.learn(make_step(index)).losses)
        two.load_state_dict(one.state_dict())
        _require_same_after(one, two, f"With recipe joint and memory_store {store}, a loaded copy", first=2, last=2)


def learn_in_rounds(trial: Trial) -> None:
    """A step can be learnt from several times, and is one step all the same."""
    once, twice, copy = trial.build(rounds=1), trial.build(rounds=2), trial.build(rounds=2, seed=9)
    for index in range(2):
        updates, more = (len(learner.learn(make_step(index)).trained_on) for learner in (once, twice))
    cure = "A `learn` of your own goes over self.rounds(step)."
    require(more == 2 * updates, f"With rounds 2, a step has {more} updates, and {updates} with rounds 1. {cure}")
    copy.load_state_dict(twice.state_dict())
    _require_same_after(twice, copy, "With rounds 2, a loaded copy", first=2, last=3)
    rounds = replace(trial, options={**trial.options, "rounds": 2})
    learn_poisoned(rounds, first=False, poison=POISONS["infinite"])


def keep_step(trial: Trial) -> None:
    """Others learn from the same step."""
    step = make_step()
    pixels = [frame.image().copy() for frame in step.frames]
    labels = {frame_id: (one.boxes.copy(), one.classes.copy()) for frame_id, one in step.labels.items()}

    trial.build().learn(step)

    now = {frame_id: (one.boxes, one.classes) for frame_id, one in step.labels.items()}
    require(find_difference(labels, now) is None, "It changed the labels of the step that it was given.")
    same = find_difference(pixels, [frame.image() for frame in step.frames]) is None
    require(same, "It changed the pixels of the step that it was given. Work on a copy.")


def keep_partial_labels_partial(trial: Trial) -> None:
    """What a person left out is never taught as background, also when it is replayed."""

    def partial_step(index: int) -> Step:
        step = make_step(index)
        return replace(step, labels={key: replace(one, complete=False) for key, one in step.labels.items()})

    learner = trial.build()
    for index in range(2):
        learner.learn(partial_step(index))
    taught: list[Labels] = []
    detector = detector_of(learner)
    loss = detector.loss

    def record(images: Any, labels: Any, seeds: Any = None) -> Any:
        taught.extend(labels)
        return loss(images, labels, seeds)

    vars(detector)["loss"] = record
    learner.learn(partial_step(2))

    human = [labels for labels in taught if labels.source == "human"]
    cure = "Change labels by dataclasses.replace, so that `complete` stays as it is."
    require(bool(human), "It trained on no labelled frame.")
    require(not any(labels.complete for labels in human), f"It trained on partial labels as if complete. {cure}")
    kept = not any(labels.complete for _, labels in learner.remembered_frames())
    require(kept, f"It remembers partial labels as if they were complete. {cure}")


def follow_seed(trial: Trial) -> None:
    """Everything random comes from the seed."""
    one, two, other = trial.build(seed=3), trial.build(seed=3), trial.build(seed=4)
    for learner in (one, two, other):
        for index in range(3):
            learner.learn(make_step(index))

    changed = find_difference(one.state_dict(), two.state_dict())
    require(changed is None, f"Equal seeds gave different results: {changed}. Draw from self.random only.")
    weights = find_difference(detector_of(one).state_dict(), detector_of(other).state_dict())
    require(weights is not None, "Other seeds gave the same weights: pass `seed` on to super().__init__.")


def continue_from_file(trial: Trial) -> None:
    """A run that was interrupted gives the same result as one that was not."""
    one, two = trial.build(), trial.build(seed=9)
    # Three: a step after the boundary, so that what was taken there is not what is there now.
    for index in range(3):
        one.learn(make_step(index))
    two.load_state_dict(_save_and_read(one))

    _require_same_after(one, two, "Saved and loaded, it", first=3, last=4)


def give_snapshots(trial: Trial) -> None:
    """A state that was handed out stays as it was."""
    one, two = trial.build(), trial.build(seed=9)
    one.learn(make_step(0))
    state = one.state_dict()
    kept = _save_and_read(one)
    two.load_state_dict(state)

    _require_same_after(one, two, "A loaded copy", first=1, last=1)
    changed = find_difference(state, kept)
    require(changed is None, f"A later step changed {changed} of a state_dict that was handed out before. Copy it.")


def predict_without_effect(trial: Trial) -> None:
    """Evaluating more often changes nothing that is learnt."""
    quiet, asked = trial.build(), trial.build()
    for index in range(3):
        quiet.learn(make_step(index))
        asked.learn(make_step(index))
        asked.predict([frame.image() for frame in make_step(index).frames])

    changed = find_difference(quiet.state_dict(), asked.state_dict())
    require(changed is None, f"Predicting between steps changed {changed} of what is learnt.")


def remember_people_only(trial: Trial) -> None:
    """Pseudo labels are for the moment: remembered, their mistakes would be replayed for ever."""
    learner = trial.build()
    for index in range(4):
        learner.learn(make_step(index, labelled=1))

    require(learner.memory is None or len(learner.memory) > 0, "Its memory is empty after four labelled frames.")
    for frame, labels in learner.remembered_frames():
        by_person = labels.source == "human" and frame.id % 4 == 0
        cure = 'Keep step.labelled("human") only, for example by self.select_for_memory(step).'
        require(by_person, f"Frame {frame.id} is remembered, but nobody labelled it. {cure}")


def lower_the_loss(trial: Trial) -> None:
    """After 24 steps over 18 frames, their loss has fallen by a third."""
    learner = trial.build()
    steps = [make_step(index, frames=6, labelled=6) for index in range(3)]

    def loss() -> float:
        pairs = [pair for step in steps for pair in step.labelled()]
        with torch.no_grad():
            detector = detector_of(learner).clone()
            parts = detector.loss([frame.image() for frame, _ in pairs], [labels for _, labels in pairs])
        return sum(value.mean().item() for value in parts.values())

    before = loss()
    for index in range(24):
        learner.learn(steps[index % 3])
    after = loss()
    require(after < 0.7 * before, f"The loss on frames that it learnt 8 times went from {before:.2f} to {after:.2f}.")


def learn_in_parts(trial: Trial) -> None:
    """A batch that is too large for the memory of a GPU is learnt in parts."""
    whole, few = trial.build(), trial.build()
    detector_of(few).to("cpu", frames_at_once=2)
    for index in range(3):
        one, two = (learner.learn(make_step(index, frames=6, labelled=3)).losses for learner in (whole, few))
        for name, value in one.items():
            near = name in two and bool(np.isclose(two[name], value, rtol=1e-3, atol=1e-5))
            cure = "A penalty that is not about frames counts by `batch.share`."
            require(near, f"Two frames at a time, the loss {name} is {two.get(name)} and not {value}. {cure}")
    weights = detector_of(whole).state_dict()["weights"], detector_of(few).state_dict()["weights"]
    for name, value in weights[0].items():
        near = torch.allclose(weights[1][name], value, rtol=0, atol=2e-3)
        require(near, f"Two frames at a time, the weights {name} differ from those of all frames at once.")


def add_classes(trial: Trial) -> None:
    """A class may come later; nothing that was learnt changes."""
    learner = trial.build()
    for index in range(3):
        learner.learn(make_step(index))
    image, boxes = make_step(0).frames[0].image(), [np.array([[2, 2, 20, 20]], np.float32)]
    before = detector_of(learner).class_logits([image], boxes)[0].detach()

    learner.extend_classes(["lamp", "bench"])

    after = detector_of(learner).class_logits([image], boxes)[0].detach()
    require(torch.equal(after[:, :4], before), "New classes changed what it says of the old ones.")
    names = ("mug", "book", "car", "lamp", "bench")
    require(learner.classes == names, f"With two new classes it has {', '.join(learner.classes)}.")
    for index in range(3, 7):
        frame, labels = make_frame(100 + index, (0,))
        require_finite(learner.learn(Step(index, (frame,), {frame.id: Labels(labels.boxes, np.array([4]))})).losses)
    fresh = trial.build()
    fresh.load_state_dict(learner.state_dict())
    changed = find_difference(learner.state_dict(), fresh.state_dict())
    require(changed is None, f"With new classes, a loaded copy differs in {changed}. {STATE_CURE}")
    _require_same_after(learner, fresh, "With new classes, a loaded copy", first=9, last=9)


def refuse_bad_numbers(which: str, poison: str) -> Callable[[Trial], None]:
    """A step with bad numbers leaves the learner as it was, and it goes on from there."""
    return lambda trial: learn_poisoned(trial, first=which == "first", poison=POISONS[poison])


def _require_same_after(one: TriedLearner, two: TriedLearner, what: str, *, first: int, last: int) -> None:
    """Let both learn these steps; they must end the same."""
    for learner in (one, two):
        for index in range(first, last + 1):
            learner.learn(make_step(index))
    changed = find_difference(one.state_dict(), two.state_dict())
    require(changed is None, f"{what} goes on differently: {changed}. {STATE_CURE}")


def _save_and_read(learner: TriedLearner) -> dict[str, Any]:
    """The state as a checkpoint keeps it: tensors and plain values only."""
    buffer = io.BytesIO()
    torch.save(learner.state_dict(), buffer)
    buffer.seek(0)
    state: dict[str, Any] = torch.load(buffer, weights_only=True)
    return state


RULES = (
    Rule("learns an empty step", learn_empty_step),
    Rule("learns a step without labels", learn_without_labels),
    Rule("learns a fully labelled step", learn_all_labels),
    Rule("learns with the joint recipe and either memory store", learn_jointly),
    Rule("learns a step in several rounds", learn_in_rounds),
    Rule("leaves the given step unchanged", keep_step),
    Rule("never teaches as background what a person left out", keep_partial_labels_partial),
    Rule("gives equal results for equal seeds, and others for others", follow_seed),
    Rule("continues identically from a saved state", continue_from_file),
    Rule("hands out states that later steps do not change", give_snapshots),
    Rule("is not changed by predicting", predict_without_effect),
    Rule("keeps pseudo labels out of its memory", remember_people_only),
    Rule("learns a batch in parts as it learns it whole", learn_in_parts),
    Rule("takes new classes", add_classes),
    Rule("takes back a step whose first update is not a number", refuse_bad_numbers("first", "not a number")),
    Rule("takes back a step whose last update is infinite", refuse_bad_numbers("last", "infinite")),
    Rule("takes back a step whose last gradient is infinite", refuse_bad_numbers("last", "an infinite gradient")),
    Rule("lowers the loss", lower_the_loss, slow=True),
)
"""All that is asked of a strategy."""
