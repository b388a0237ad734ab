"""A data layout of one's own: examples/own_benchmark.py, as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import own_benchmark
import pytest
from own_benchmark import TextFiles, TextFilesOptions
from PIL import Image
from typer.testing import CliRunner

from leocod.cli.main import app
from leocod.errors import InvalidData


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Six frames, each with a mug and a book."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(6):
        pixels = np.random.default_rng(number).integers(0, 255, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:04}.jpg")
        (folder / f"{number:04}.txt").write_text(f"mug {number} 2 30 40\nbook 20 10 60 45\n")
    return folder


def test_the_example_is_short() -> None:
    assert len(Path(own_benchmark.__file__).read_text().splitlines()) < 40


def test_frames_come_in_steps_with_their_labels(root: Path) -> None:
    options = TextFilesOptions(root=root, classes=("mug", "book"), frames_per_step=2)

    benchmark = TextFiles(options, seed=0)

    assert benchmark.steps == 2
    frame, labels = benchmark.frames_of(1)[0]
    assert (frame.id, frame.size, frame.content) == (3, (48, 64), root / "0003.jpg")
    assert labels.boxes.tolist() == [[3, 2, 30, 40], [20, 10, 60, 45]]
    assert labels.classes.tolist() == [0, 1]
    assert [frame.id for frame, _ in benchmark.test] == [2, 5]


def test_a_bad_line_is_told_or_costs_its_frame(root: Path) -> None:
    (root / "0001.txt").write_text("mug 1 2 30 40\nmug 30 2 3 40\n")

    with pytest.raises(InvalidData, match=r"0001\.txt, line 2: the box is .* it has no area"):
        TextFiles(TextFilesOptions(root=root, classes=("mug", "book")), seed=0)
    skipping = TextFiles(TextFilesOptions(root=root, classes=("mug", "book"), on_bad_frame="skip"), seed=0)
    assert len(skipping.problems) == 1


def test_it_runs_by_its_name(root: Path, tmp_path: Path) -> None:
    arguments = [
        *("run", "--benchmark", "own_benchmark:TextFiles", "--threads", "1", "--out", str(tmp_path / "run")),
        *("--set", f"benchmark={{root: {root}, classes: [mug, book], frames_per_step: 2}}"),
        *("--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"),
        *("--set", "labels.per_step=1", "--set", "strategy.replay_per_step=2"),
    ]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "run" / "results.json").read_text())["steps"] == 2
