import numpy as np

from leocod.data.novelty import StepInstances, collect_instances, measure_novelty
from leocod.types import Frame, Labels


def step(labelled: set[int], unlabelled: set[int], by_class: dict[int, set[int]] | None = None) -> StepInstances:
    classes = {kind: frozenset(members) for kind, members in (by_class or {}).items()}
    return StepInstances(frozenset(labelled), frozenset(unlabelled), classes)


def test_instances_are_collected_by_labelled_frames_and_by_class() -> None:
    def frame(number: int, *classes: int) -> tuple[Frame, Labels]:
        boxes = np.asarray([[0, 0, 2, 2]] * len(classes), np.float32)
        return Frame(number, "v", number, (4, 4), np.zeros((4, 4, 3), np.uint8)), Labels(boxes, np.asarray(classes))

    found = collect_instances([frame(7, 0), frame(8, 0, 1)], [np.array([1]), np.array([1, 2])], labelled=[7])

    assert found == step({1}, {1, 2}, {0: {1}, 1: {2}})


def test_what_labelled_frames_of_a_step_show_is_not_new_in_its_others() -> None:
    # Of 1, 2 and 2, 3 in unlabelled frames, 1 and 2 are also in the labelled frames of the step.
    found = measure_novelty([step({1}, {1, 2}), step({2}, {2, 3})])

    assert found.seen_in_step == 2 / 4


def test_an_instance_that_is_labelled_anywhere_is_not_missed() -> None:
    found = measure_novelty([step({1}, {1, 2}), step({2}, {2, 3})])

    assert found.instances == 3
    assert found.never_labelled == 1 / 3


def test_what_comes_back_is_counted_by_the_visits_of_its_class() -> None:
    # The second visit of class 0 takes two steps and has instances 1, 5 and 6, of which only 1 was there before.
    steps = [{0: {1, 2}}, {1: {3}}, {0: {1}}, {0: {5, 6}}]

    assert measure_novelty([step(set(), set(), by_class) for by_class in steps]).seen_before == 1 / 3


def test_without_instances_there_are_no_shares() -> None:
    found = measure_novelty([step(set(), set())])

    assert (found.seen_in_step, found.never_labelled, found.seen_before) == (None, None, None)
