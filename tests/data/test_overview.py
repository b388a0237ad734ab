from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from leocod.benchmarks.base import Benchmark
from leocod.data.overview import draw_timeline, make_class_table, make_timeline_table, survey
from leocod.readers.image_checks import BrokenImage
from leocod.types import Frame, LabelledFrame, Labels

PIXELS = np.zeros((4, 4, 3), np.uint8)


def showing(*classes: int) -> Labels:
    return Labels(np.asarray([[0, 0, 2, 2]] * len(classes), np.float32), np.asarray(classes, np.int64))


class Shown(Benchmark):
    """What each frame of each step shows; two steps come from one video."""

    name = "shown"
    classes = ("mug", "[b]ook", "car")

    def __init__(self, steps: Sequence[Sequence[Labels]], test: Sequence[Labels] = ()) -> None:
        self.steps = len(steps)
        self._steps = steps
        self._test = test

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        return [
            (Frame(100 * step + number, f"walk{step // 2}", number, (4, 4), PIXELS), labels)
            for number, labels in enumerate(self._steps[step])
        ]

    @property
    def test(self) -> Sequence[LabelledFrame]:
        return [(Frame(9000 + number, "test", number, (4, 4), PIXELS), one) for number, one in enumerate(self._test)]


def printed(table: Table) -> list[str]:
    console = Console(width=200, no_color=True)
    with console.capture() as capture:
        console.print(table)
    return [line.strip() for line in capture.get().splitlines()]


def test_boxes_and_frames_of_a_class_are_counted_apart_from_test() -> None:
    shown = Shown([[showing(0, 0), showing(0, 1)], [showing()]], test=[showing(1, 1)])

    mug, book, car = survey(shown).classes

    assert (mug.boxes, mug.frames, mug.test_boxes, mug.test_frames) == (3, 2, 0, 0)
    assert (book.boxes, book.frames, book.test_boxes, book.test_frames) == (1, 1, 2, 1)
    assert (car.boxes, car.frames, car.visits, car.gaps) == (0, 0, 0, [])


def test_a_visit_is_a_stretch_of_steps_and_a_gap_lies_between_two() -> None:
    here, away = [showing(0)], [showing()]

    mug = survey(Shown([away, here, here, away, here, away, away, here, away])).classes[0]

    assert mug.steps == [1, 2, 4, 7]
    assert mug.visits == 3
    assert mug.gaps == [1, 2]


def test_a_short_last_step_and_an_empty_step_are_counted_as_they_are() -> None:
    overview = survey(Shown([[showing()] * 3, [], [showing()]]))

    assert overview.frames == (3, 0, 1)
    assert overview.lines()[0] == "shown: 3 steps, 4 training and 0 test frames, 3 classes."


def test_videos_are_told_in_order() -> None:
    overview = survey(Shown([[showing()]] * 3))

    assert overview.lines()[1] == "In order: 2 videos (walk0, walk1)."


def test_many_videos_are_not_all_named() -> None:
    overview = survey(Shown([[showing()]] * 20))

    assert overview.lines()[1].endswith("walk7 and 2 more).")


def test_frames_that_nobody_labelled_are_not_taken_for_empty_ones() -> None:
    overview = survey(Shown([[showing(0, 0), showing(), Labels.unknown(), Labels.unknown()]]))

    assert (overview.labelled, overview.empty) == (2, 1)
    assert overview.lines()[2] == "Labels: 2 of 4 frames labelled; 1.0 objects a frame, 50 % of frames without any."


def test_broken_frames_are_counted_apart_and_not_taken_for_empty_ones() -> None:
    class Damaged(Shown):
        lost_test_frames = 2
        unlabelled_test_frames = 1

        def frames_of(self, step: int) -> Sequence[LabelledFrame]:
            return [*super().frames_of(step), (Frame(99, "walk0", 9, (0, 0), BrokenImage("bad")), Labels.none())]

    overview = survey(Damaged([[showing(0)]]))

    assert (overview.labelled, overview.empty, overview.frames, overview.lost) == (1, 0, (1,), 3)
    assert overview.lines()[3:] == [
        "Left out, because they cannot be used: 3 frames.",
        "Held out, but not tested on, because nobody has labelled them: 1 frame.",
    ]


def test_where_all_frames_are_labelled_nothing_is_said_about_it() -> None:
    overview = survey(Shown([[showing(0), showing(1, 2)]]))

    assert overview.lines()[2] == "Labels: 1.5 objects a frame, 0 % of frames without any."


def test_the_timeline_has_a_mark_for_each_step_of_a_short_stream() -> None:
    assert draw_timeline([0, 1, 8, 4], [8, 8, 8, 8]) == "·▁█▄"


def test_the_timeline_of_a_long_stream_puts_steps_together() -> None:
    present = [0] * 50 + [16] * 25 + [8] * 25

    assert draw_timeline(present, [16] * 100, columns=4) == "··█▄"
    assert len(draw_timeline([1] * 1000, [16] * 1000)) == 60


@pytest.mark.parametrize("frames", [[], [0]])
def test_a_stream_without_frames_has_no_marks_but_is_no_mistake(frames: list[int]) -> None:
    assert draw_timeline([0] * len(frames), frames) == "·" * len(frames)


def test_the_table_has_the_most_frequent_first_and_no_more_than_asked_for() -> None:
    overview = survey(Shown([[showing(1, 1)], [showing(0)], [showing(1)]]))

    lines = printed(make_class_table(overview, most=2))

    assert lines[1].split() == ["[b]ook", "3", "2", "0", "0", "0", "2", "2", "1"]
    assert lines[2].split() == ["mug", "1", "1", "0", "0", "1", "1", "1", "0"]
    assert len(lines) == 3


def test_a_class_that_never_comes_has_no_first_step() -> None:
    lines = printed(make_class_table(survey(Shown([[showing(0)]])), most=3))

    assert lines[3].split() == ["car", "0", "0", "0", "0", "–", "–", "0", "0"]


def test_the_timelines_stand_under_each_other() -> None:
    overview = survey(Shown([[showing(1, 1)], [showing(0)], [showing(1)]]))

    lines = printed(make_timeline_table(overview, most=2))

    assert lines == ["class   step 0 to 2", "[b]ook  █·█", "mug     ·█·"]


def test_every_step_is_told() -> None:
    told: list[int] = []

    survey(Shown([[showing()]] * 3), lambda: told.append(1))

    assert len(told) == 3


def test_names_are_shown_as_they_are_and_cannot_speak_to_the_terminal() -> None:
    shown = Shown([[showing(0, 1, 2)]])
    shown.name = "two\nlines"
    shown.classes = ("\x1b[31m\0\u202e\ud800", "x" * 10_000, "[red]car[/red]")

    overview = survey(shown)
    lines = [*overview.lines(), *printed(make_class_table(overview, 9)), *printed(make_timeline_table(overview, 9))]

    assert lines[0].startswith(r"two\nlines: 1 step")
    assert all(line.isprintable() for line in lines)
    assert [line.split()[0] for line in printed(make_class_table(overview, 9))[1:]] == [
        r"\x1b[31m\x00\u202e\ud800",
        "x" * 57 + "...",
        "[red]car[/red]",
    ]
