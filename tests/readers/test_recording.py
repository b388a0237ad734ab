"""Frames in steps, and paths that stay in their folder."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from leocod.errors import InvalidData
from leocod.readers.recording import (
    Entry,
    FrameProblems,
    Problem,
    Recording,
    choose_layout,
    divide,
    group_by_step,
    is_sparse,
    limit_steps,
    raise_problem,
    split,
)
from leocod.types import Labels


def entries(count: int, broken: tuple[int, ...] = ()) -> list[Entry]:
    return [Entry(n, "video", n, Path("p"), (1, 1), None, broken=n in broken) for n in range(count)]


def test_sixteen_frames_are_a_step_and_the_next_is_held_out():
    found = split(entries(40), frames_per_step=16, held_out=1)

    assert [entry.id for entry in found if entry.held_out] == [16, 33]
    assert [len(step) for step in group_by_step(found)] == [16, 16, 6]


def test_a_broken_frame_leaves_its_place_and_the_others_keep_theirs():
    whole = split(entries(9), frames_per_step=3, held_out=1)
    damaged = split(entries(9, broken=(1, 3, 8)), frames_per_step=3, held_out=1)

    assert [(one.step, one.held_out) for one in damaged] == [(one.step, one.held_out) for one in whole]
    assert [[entry.id for entry in step] for step in group_by_step(damaged)] == [[0, 1, 2], [4, 5, 6], [8]]


def test_the_first_steps_come_with_their_test_frames():
    recording = Recording(("a",), split(entries(12), frames_per_step=3, held_out=1))

    assert [entry.id for entry in limit_steps(recording, 2).entries] == list(range(8))
    assert limit_steps(recording, None) is recording


@pytest.mark.parametrize(("frames_per_step", "held_out"), [(0, 1), (1, -1)])
def test_a_step_has_a_frame_at_least(frames_per_step, held_out):
    with pytest.raises(ValueError, match="at least"):
        split(entries(3), frames_per_step=frames_per_step, held_out=held_out)


def test_a_problem_is_told_in_one_line_whatever_its_file_is_called():
    assert str(Problem(Path("a\nb\udcff.jpg"), "", "bad")) == r"a\nb\udcff.jpg: bad"


def test_only_what_breaks_something_stops():
    raise_problem(Problem(Path("a.json"), "image 1", "so so", breaks=False))

    with pytest.raises(InvalidData, match=r"^a\.json, image 1: bad$"):
        raise_problem(Problem(Path("a.json"), "image 1", "bad"))


def test_complaints_remember_whether_the_frame_is_lost():
    met: list[Problem] = []
    problems = FrameProblems(met.append, Path("a.json"), "image 1", 5)

    problems.add("annotation 2", "odd", "crowd", breaks=False)
    before = problems.broken
    problems.add("", "bad", "size")

    assert (before, problems.broken) == (False, True)
    assert [str(one) for one in met] == ["a.json, annotation 2 of image 1: odd", "a.json, image 1: bad"]
    assert [one.frame for one in met] == [None, 5]


@pytest.mark.parametrize(
    ("there", "said"),
    [({"a": False, "b": False}, "none of the layouts a, b"), ({"a": True, "b": True}, "more than one")],
)
def test_no_layout_and_two_layouts_are_told(tmp_path, there, said):
    with pytest.raises(InvalidData, match=said):
        choose_layout("auto", there, tmp_path)


def test_the_only_layout_is_taken_unless_another_is_asked_for(tmp_path):
    assert choose_layout("auto", {"a": False, "b": True}, tmp_path) == "b"
    assert choose_layout("a", {"a": False, "b": True}, tmp_path) == "a"
    with pytest.raises(InvalidData, match="no such folder"):
        choose_layout("a", {}, tmp_path / "none")


def labelled(count: int, every: int) -> list[Entry]:
    return [replace(entry, labels=None if entry.id % every else Labels.none()) for entry in entries(count)]


def test_sparse_labels_give_test_frames_from_among_the_labelled_ones():
    found = divide(labelled(100, every=4), frames_per_step=16, hold_out=1, test_every=5)

    # Of 0, 4, 8, 12, 16 it is the middle one, and so on.
    assert [entry.id for entry in found if entry.held_out] == [8, 28, 48, 68, 88]
    steps = group_by_step(found)
    assert [len(step) for step in steps] == [16, 16, 16, 16, 16, 15]
    assert [entry.id for step in steps for entry in step] == [entry.id for entry in found if not entry.held_out]
    assert [entry.step for entry in found if entry.held_out] == [0, 1, 2, 4, 5]
    assert all(one.step <= other.step for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("hold_out", "test_every", "tests"), [(0, 5, []), (1, 0, [16, 33]), (1, 2, [4, 12, 20, 28, 36])]
)
def test_options_say_how_many_of_sparse_labels_test(hold_out, test_every, tests):
    found = divide(labelled(40, every=4), frames_per_step=16, hold_out=hold_out, test_every=test_every)

    assert [entry.id for entry in found if entry.held_out] == tests


def test_labels_are_not_sparse_where_nine_frames_in_ten_have_one():
    frames = [replace(entry, labels=None if entry.id in (3, 16) else Labels.none()) for entry in entries(20)]

    found = divide(frames, frames_per_step=16, hold_out=1, test_every=5)

    assert [entry.id for entry in found if entry.held_out] == [16]
    assert is_sparse(17, 20)
    assert not is_sparse(18, 20)


def test_without_any_label_frames_are_divided_by_their_place():
    found = divide(entries(18), frames_per_step=16, hold_out=1, test_every=5)

    assert [entry.id for entry in found if entry.held_out] == [16]
