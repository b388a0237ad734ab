"""Pseudo labels that have collapsed are told once, and so is that they are well again."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.events import PseudoLabelCheck
from leocod.plugins.pseudo_label_monitor import PseudoLabelMonitor
from leocod.types import Frame, Labels


def frames(*objects):
    """A frame for each number, with so many objects in it."""
    pixels = np.zeros((4, 4, 3), np.uint8)
    return [
        (Frame(number, "film", number, (4, 4), pixels), Labels([[0, 0, 2, 2]] * count, [0] * count))
        for number, count in enumerate(objects)
    ]


def looked(watch, *steps):
    """What was said at each step, of pairs of labelled and pseudo-labelled frames."""
    said = [watch.add(frames(*labelled), frames(*pseudo)) for labelled, pseudo in steps]
    return [one[0] if one else None for one in said]


def checked(watch, *checks):
    """What was said at each step, of pairs of labels compared and right ones."""
    return [watch.add(frames(1), frames(1), PseudoLabelCheck(*check)) for check in checks]


def test_none_for_so_many_steps_is_told_once():
    watch = PseudoLabelMonitor(3, flood=10)

    said = looked(watch, *[([2], [0, 0])] * 5)

    assert [one is not None for one in said] == [False, False, True, False, False]
    assert said[2] == (
        "Pseudo labels have collapsed: 0.00 a frame in the last 3 steps, where labelled frames show 2.00 objects."
    )
    assert watch.alarm == "none"


def test_a_single_one_among_the_last_steps_is_enough():
    watch = PseudoLabelMonitor(3, flood=10)

    said = looked(watch, ([2], [0, 1]), ([2], [0, 0]), ([2], [0, 0]))

    assert said == [None, None, None]
    assert watch.alarm is None


@pytest.mark.parametrize(("found", "alarm"), [(20, None), (21, "flood")])
def test_more_than_so_many_times_the_labelled_objects_is_a_flood(found, alarm):
    watch = PseudoLabelMonitor(1, flood=10)

    (said,) = looked(watch, ([2], [found]))

    assert watch.alarm == alarm
    assert (said is not None) == (alarm is not None)


def test_it_is_a_flood_by_the_frame_and_not_by_the_step():
    watch = PseudoLabelMonitor(1, flood=2)

    assert looked(watch, ([1, 1], [1] * 30)) == [None]
    assert looked(watch, ([1, 1], [3])) != [None]


def test_when_they_are_back_that_is_told_too():
    watch = PseudoLabelMonitor(2, flood=10)

    said = looked(watch, ([1], [0]), ([1], [0]), ([1], [1]), ([1], [1]))

    assert [one and one.partition(":")[0] for one in said] == [
        *(None, "Pseudo labels have collapsed", "Pseudo labels have recovered.", None)
    ]
    assert watch.alarm is None


def test_from_none_to_a_flood_is_told_again():
    watch = PseudoLabelMonitor(1, flood=2)

    said = looked(watch, ([1], [0]), ([1], [3]))

    assert [one.split(" a frame")[0] for one in said] == [
        *("Pseudo labels have collapsed: 0.00", "Pseudo labels have collapsed: 3.00")
    ]


@pytest.mark.parametrize("labelled", [[], [0, 0]], ids=["no labelled frame", "nothing in them"])
@pytest.mark.parametrize("pseudo", [[0, 0], [9, 9]])
def test_where_people_see_nothing_either_there_is_no_alarm(labelled, pseudo):
    watch = PseudoLabelMonitor(2, flood=2)

    assert looked(watch, *[(labelled, pseudo)] * 4) == [None] * 4


def test_a_step_without_frames_to_label_does_not_count():
    watch = PseudoLabelMonitor(2, flood=10)

    said = looked(watch, ([1], [0]), ([1], []), ([1], []), ([1], [0]))

    assert [one is not None for one in said] == [False, False, False, True]


def test_it_forgets_what_is_longer_ago():
    watch = PseudoLabelMonitor(2, flood=10)

    said = looked(watch, ([1], [5]), ([1], [0]), ([1], [0]))

    assert said[:2] == [None, None]
    assert said[2] is not None


def test_gone_on_from_a_state_it_says_the_same():
    steps = [([1], [0]), ([1], [0]), ([1], [0]), ([1], [1])]
    whole = looked(PseudoLabelMonitor(2, flood=10), *steps)

    for broken_off in range(len(steps)):
        one, two = PseudoLabelMonitor(2, flood=10), PseudoLabelMonitor(2, flood=10)
        said = looked(one, *steps[:broken_off])
        two.load_state_dict(one.state_dict())

        assert [*said, *looked(two, *steps[broken_off:])] == whole


@pytest.mark.parametrize("labelled", [[], [0, 0]], ids=["no labelled frame", "nothing in them"])
@pytest.mark.parametrize(("before", "alarm"), [(0, "none"), (9, "flood")])
def test_an_alarm_stays_while_people_label_nothing(labelled, before, alarm):
    watch = PseudoLabelMonitor(1, flood=2)
    looked(watch, ([1], [before]))

    said = looked(watch, (labelled, [1]), (labelled, [0]))

    assert said == [None, None]
    assert watch.alarm == alarm


def test_mostly_wrong_ones_are_told_once_and_so_is_that_they_are_mostly_right_again():
    watch = PseudoLabelMonitor(2, flood=10)

    said = checked(watch, (10, 4), (10, 5), (10, 4), (10, 7))

    assert said[0] == said[2] == []
    assert said[1] == [
        "Pseudo labels are mostly wrong: in the last 2 steps 9 of 20 that the pseudo-labeller would have written on "
        "labelled frames were right. Raise efficient_cls.score_threshold, so that only surer ones are written, or set "
        "efficient_cls.pseudo_labels to false."
    ]
    assert said[3] == [
        "Pseudo labels are mostly right again: in the last 2 steps 11 of 20 that the pseudo-labeller would have "
        "written on labelled frames were right."
    ]


@pytest.mark.parametrize("check", [(19, 0), (20, 10)], ids=["too few", "half of them right"])
def test_a_few_wrong_ones_or_half_of_them_are_no_news(check):
    assert checked(PseudoLabelMonitor(1, flood=10), check) == [[]]


def test_while_too_few_are_compared_the_verdict_stays():
    watch = PseudoLabelMonitor(1, flood=10)
    checked(watch, (20, 0))

    assert checked(watch, (19, 19), (0, 0)) == [[], []]
    assert watch.mostly_wrong


def test_none_and_mostly_wrong_can_be_told_at_once():
    watch = PseudoLabelMonitor(1, flood=10)

    said = watch.add(frames(1), frames(0), PseudoLabelCheck(20, 0))

    assert [one.partition(":")[0] for one in said] == ["Pseudo labels have collapsed", "Pseudo labels are mostly wrong"]


def test_gone_on_from_a_state_what_was_compared_still_counts():
    one, two = PseudoLabelMonitor(2, flood=10), PseudoLabelMonitor(2, flood=10)
    checked(one, (10, 4))
    two.load_state_dict(one.state_dict())

    assert len(checked(two, (10, 4))[0]) == 1
    one.load_state_dict(two.state_dict())
    assert checked(one, (10, 4)) == [[]]


def test_a_state_of_before_anything_was_compared_is_gone_on_from():
    watch = PseudoLabelMonitor(2, flood=10)
    checked(watch, (20, 0))

    watch.load_state_dict({"alarm": None, "counts": [[1, 1, 1, 1]]})

    assert not watch.mostly_wrong
    assert checked(watch, (19, 0)) == [[]]
