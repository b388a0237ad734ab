"""How a run divides frames. The rules themselves: tests/readers/test_recording.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from leocod.data.division import Division
from leocod.readers.recording import Entry, Recording, split
from leocod.types import Labels


def a_recording(count, labelled):
    mug = Labels(np.array([[0, 0, 5, 5]], np.float32), np.array([0], np.int64))
    frames = (Entry(n, "video", n, Path("p"), (9, 9), mug if n in labelled else None) for n in range(count))
    return Recording(("mug", "jar"), tuple(frames))


def test_sparse_labels_of_an_own_video_are_divided_by_their_order():
    division = Division(a_recording(100, range(0, 100, 10)), is_own=True)

    assert division.describe() == (
        "A run learns from 8 labelled frames and tests on 2 (labels are sparse: of each 5 labelled frames in a row the "
        "middle one is held out)."
    )
    kinds = [problem.kind for problem in division.find_problems(Path("labels.json"))]
    assert kinds == ["few test frames", "untested classes", "untested classes"]


def test_other_data_is_divided_by_place_and_not_judged():
    division = Division(a_recording(34, range(17)), is_own=False)

    assert len(division.test) == 1
    assert list(division.find_problems(Path("labels.json"))) == []


def test_what_the_files_have_divided_stays_so():
    recording = a_recording(4, range(4))
    divided = Recording(recording.classes, split(recording.entries, frames_per_step=1, held_out=1))

    assert Division(divided, is_own=True).describe() == "A run learns from 2 labelled frames and tests on 2."


def test_no_test_frame_is_told_with_the_rule():
    (sparse,) = Division(a_recording(20, [0]), is_own=True).find_problems(Path("labels.json"))
    (whole,) = Division(a_recording(16, range(16)), is_own=True).find_problems(Path("labels.json"))

    assert "labels are sparse" in sparse.what
    assert "16 frames are a step, and the next one is held out): a run would learn, but not be evaluated" in whole.what
    assert Division(a_recording(20, []), is_own=True).describe() == ""
