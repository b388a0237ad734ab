import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image as PillowImage
from typer.testing import CliRunner, Result

from leocod.cli.main import app
from leocod.errors import InvalidData, InvalidRun
from leocod.export import export as module
from leocod.export.comparison import ExportDiffers
from leocod.export.export import export
from leocod.files.checkpoint import read_newest_checkpoint
from leocod.files.run_directory import RunDirectory
from leocod.types import Detections, Image
from leocod.weights import read_weights

SMALL = (
    *("--steps", "2", "--evaluate-every", "2", "--threads", "1"),
    *("--set", "benchmark={width: 96, height: 72, places: 2}", "--set", "detector.short_side=72"),
)


def leocod(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """From the shipped weights, so that it finds something."""
    path = tmp_path_factory.mktemp("runs") / "run"
    done = leocod("run", *SMALL, "--out", path)
    assert done.exit_code == 0, done.output
    return path


@pytest.mark.parametrize("kind", ["onnx", "torchscript", "safetensors"])
def test_the_command_writes_a_file_and_tells_what_was_compared(kind: str, run: Path, tmp_path: Path) -> None:
    done = leocod("export", run, "--format", kind, "--out", tmp_path / "new" / f"d.{kind}")

    assert done.exit_code == 0, done.output
    assert f"Compared on {len(list((run / 'samples').glob('*.png')))} images" in done.output
    assert "different scores" in done.output
    assert f"d.{kind}: " in done.output
    assert [file.name for file in (tmp_path / "new").iterdir()] == [f"d.{kind}"]
    assert (tmp_path / "new" / f"d.{kind}").stat().st_mode == (run / "config.yaml").stat().st_mode


def test_without_a_name_the_file_is_in_the_run(run: Path) -> None:
    file, _ = export(run, "safetensors")

    assert file == run / "detector.safetensors"
    assert file.is_file()


def test_it_is_the_slow_learner_that_is_exported(run: Path, tmp_path: Path) -> None:
    found = read_newest_checkpoint(RunDirectory(run).checkpoints)
    assert found is not None
    saved = found[1]["learner"]["slow"]["weights"]
    name = "roi_heads.box_predictor.cls_score.weight"

    file, _ = export(run, "safetensors", tmp_path / "d.safetensors")

    assert torch.equal(read_weights(file)[0][name], saved[name])


@pytest.mark.parametrize("plug_in", ["efficient_cls", "none"])
def test_a_class_list_that_has_grown_is_exported_as_it_is(plug_in: str, tmp_path: Path) -> None:
    done = leocod(
        "run", *SMALL, "--plugin", plug_in, "--labels", "16", "--set", "classes=open", "--out", tmp_path / "run"
    )
    assert done.exit_code == 0, done.output

    file, _ = export(tmp_path / "run", "safetensors")

    classes = read_weights(file)[1]
    assert classes[:8] == ("mug", "chair", "book", "lamp", "car", "bench", "bottle", "plant")
    assert 8 < len(classes) <= 20


def test_a_file_is_called_what_it_is(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"d\.txt': it should end in \.onnx"):
        export(run, "onnx", tmp_path / "d.txt")


def broken(change: Callable[[Detections], Detections]) -> Callable[..., Any]:
    """A reader of files that finds something else."""

    def read(kind: Any, path: Path, exported: Any) -> Callable[[Sequence[Image]], list[Detections]]:
        return lambda images: [change(found) for found in exported.detector.predict(images)]

    return read


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda found: Detections(found.boxes + 0.2, found.classes, found.scores), r"boxes differ by up to 0\.2 px"),
        (lambda found: Detections(found.boxes, found.classes, found.scores - 0.001), r"scores by up to 0\.001"),
        (
            lambda found: Detections(found.boxes[1:], found.classes[1:], found.scores[1:]),
            r"only one finds [1-9]\d* more",
        ),
        (lambda found: Detections(found.boxes, found.classes + 1, found.scores), r"only one finds [1-9]\d* more"),
    ],
    ids=["boxes", "scores", "number", "classes"],
)
def test_a_file_that_finds_something_else_is_refused_and_not_left(
    change: Any, told: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "read", broken(change))
    (tmp_path / "d.safetensors").write_text("from before")

    done = leocod("export", run, "--format", "safetensors", "--out", tmp_path / "d.safetensors")

    assert done.exit_code == 2
    assert re.search(told, done.stderr)
    assert len(done.stderr.splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["d.safetensors"]
    assert (tmp_path / "d.safetensors").read_text() == "from before"


def test_pictures_that_show_too_little_are_refused(run: Path, tmp_path: Path) -> None:
    PillowImage.new("RGB", (96, 72)).save(tmp_path / "black.png")

    with pytest.raises(InvalidRun, match=r"cannot be checked.*1 image with .* different scores"):
        export(run, "safetensors", tmp_path / "d.safetensors", tmp_path / "black.png")

    assert [file.name for file in tmp_path.iterdir()] == ["black.png"]


def test_a_detector_that_has_not_learnt_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert leocod("run", *SMALL, "--steps", "1", "--set", "detector.weights=null", "--out", run).exit_code == 0

    with pytest.raises((InvalidRun, ExportDiffers)):
        export(run, "torchscript")

    assert not (run / "detector.torchscript").exists()


def test_what_cannot_be_exported_is_told_before_anything_is_loaded(run: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.yaml").write_text((run / "config.yaml").read_text())

    for arguments, told in {
        (run, "onnx", tmp_path / "empty"): "is a directory. Give --out a file name",
        (run, "safetensors", tmp_path / "d.bin"): "it should end in .safetensors",
        (run, "onnx", None, tmp_path / "none"): "No file or folder",
        (run, "onnx", None, tmp_path / "empty"): "holds no images",
        (tmp_path / "run", "onnx"): "has no pictures to compare on. Give some with --images",
    }.items():
        with pytest.raises(InvalidData, match=told):
            export(*arguments)
    with pytest.raises(InvalidRun, match="is not a run directory"):
        export(tmp_path / "empty", "onnx")
