"""A folder to label. Which frames are in it: see test_choose.py."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import numpy as np
import pytest

from leocod.data.choose import ChosenFrame
from leocod.data.label_folder import write_label_folder
from leocod.errors import InvalidConfig, InvalidData
from leocod.files.images import read_size
from leocod.readers.frame_numbers import parse_name


def a_frame(video: str, number: int) -> ChosenFrame:
    return ChosenFrame(Path(video), number, number / 10, np.full((60, 80, 3), number, np.uint8))


def test_pictures_are_named_by_video_and_frame_and_listed(tmp_path: Path) -> None:
    frames = [a_frame("my walk.mp4", 3), a_frame("my walk.mp4", 12), a_frame("b.mp4", 3)]

    counts = write_label_folder(tmp_path / "out", [Path("my walk.mp4"), Path("b.mp4")], frames, rule="The rule.")

    with (tmp_path / "out" / "frames.csv").open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [(row["video"], row["frame"], row["seconds"]) for row in rows] == [
        ("my walk.mp4", "3", "0.30"),
        ("my walk.mp4", "12", "1.20"),
        ("b.mp4", "3", "0.30"),
    ]
    for row in rows:
        assert parse_name(row["name"], Path(row["video"]).stem).number == int(row["frame"])
        assert read_size(tmp_path / "out" / "images" / row["name"]) == (60, 80)
    assert counts == {Path("my walk.mp4"): 2, Path("b.mp4"): 1}


def test_the_instructions_say_the_rule_and_commands_with_the_real_paths(tmp_path: Path) -> None:
    write_label_folder(tmp_path / "out", [Path("my walk.mp4")], [a_frame("my walk.mp4", 3)], rule="The rule.")

    text = (tmp_path / "out" / "README.md").read_text()
    assert "The rule." in text
    assert "`my_walk_f000012.jpg` is frame 12" in text
    check, run = (
        shlex.split(line) for line in text.splitlines() if line.startswith(("    leocod data", "    leocod run"))
    )
    assert check == ["leocod", "data", "check", "my walk.mp4", "--labels", "LABELS"]
    assert "benchmark.source=my walk.mp4" in run
    for tool in ("CVAT", "Label Studio", "leocod live"):
        assert f"## With {tool}" in text


def test_nothing_is_left_when_something_is_there_or_nothing_can_be_decoded(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")

    with pytest.raises(InvalidConfig, match="already there"):
        write_label_folder(tmp_path / "taken", [Path("a.mp4")], [a_frame("a.mp4", 1)], rule="")
    with pytest.raises(InvalidData, match=r"a\.mp4: no frame could be decoded"):
        write_label_folder(tmp_path / "out", [Path("a.mp4")], [], rule="")

    assert sorted(file.name for file in tmp_path.rglob("*")) == ["mine.txt", "taken"]
