from dataclasses import replace

from leocod.plugins.copies import put_copies
from leocod.types import LossWeights


def test_labelled_frames_take_turns_and_count_as_what_they_replace(a_step):
    step = a_step(frames=6, labelled=2)
    weights = LossWeights(proposals=0.0, boxes=0.5, classes=0.5)
    labels = replace(step.labels[0], source="pseudo", weights=weights)

    copies = put_copies([(frame, labels) for frame in step.frames[2:]], step.labelled("human"), lambda found: True)

    assert [frame.id for frame, _ in copies] == [2, 3, 4, 5]
    originals = [step.frames[number].image().tobytes() for number in (0, 1, 0, 1)]
    assert [frame.image().tobytes() for frame, _ in copies] == originals
    assert all(given.weights == weights and given.source == "pseudo" for _, given in copies)


def test_only_what_is_asked_for_is_replaced(a_step):
    step = a_step(frames=4, labelled=1)
    sure = replace(step.labels[0], source="pseudo")
    empty = replace(sure, boxes=[], classes=[])

    pseudo = [(step.frames[1], sure), (step.frames[2], empty)]

    taught = put_copies(pseudo, step.labelled("human"), lambda found: not len(found))

    assert taught[0] == (step.frames[1], sure)
    assert taught[1][1].boxes.tolist() == step.labels[0].boxes.tolist()


def test_without_a_labelled_frame_they_are_left_out(a_step):
    step = a_step(frames=2, labelled=0)
    labels = a_step(labelled=1).labels[0]

    assert put_copies([(frame, labels) for frame in step.frames], [], lambda found: True) == []
