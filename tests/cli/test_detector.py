import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from leocod.cli.main import app

SMALL = (
    *("--set", "benchmark={name: wander, steps: 2, frames_per_step: 4, classes: 3, places: 2}"),
    *("--set", "detector={name: tiny, weights: null, short_side: 48, regions: 8, proposals: 12}"),
    *("--set", "checkpoint.every=1", "--labels", "1"),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run."""
    path = tmp_path_factory.mktemp("runs") / "small"
    done = CliRunner().invoke(app, ["run", *SMALL, "--out", str(path)])
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture
def unfinished(finished: Path, tmp_path: Path) -> Path:
    """The same, killed after its second step."""
    path = copytree(finished, tmp_path / "killed")
    for name in ("results.json", "memory.json", "report.html"):
        (path / name).unlink()
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        Image.fromarray(np.full((48, 64, 3), 128, np.uint8)).save(folder / name)
    return folder


def test_a_photo_that_cannot_be_read_is_named_and_counted_and_the_exit_code_says_so(
    leocod: Callable[..., Result], finished: Path, photos: Path
) -> None:
    (photos / "c.jpg").write_bytes(b"not a picture")

    result = leocod("predict", str(finished), str(photos), "--out", "out")

    assert result.exit_code == 1
    assert "2 frames: out" in result.stdout
    named, counted = result.stderr.splitlines()
    assert named == f"leocod: {photos}/c.jpg is not a readable image (unknown format). Replace the file."
    assert counted == "leocod: 1 of 3 images could not be read and is left out."
    assert Path("out/detections.json").is_file()


def test_a_threshold_below_what_the_detector_reports_is_told(
    leocod: Callable[..., Result], finished: Path, photos: Path
) -> None:
    low = leocod("predict", str(finished), str(photos / "a.png"), "--out", "low", "--threshold", "0.01")
    high = leocod("predict", str(finished), str(photos / "a.png"), "--out", "high", "--threshold", "0.05")

    assert low.exit_code == high.exit_code == 0
    assert (
        low.stderr
        == "leocod: --threshold is 0.01, but this detector reports no score of 0.05 or less: none is shown.\n"
    )
    assert high.stderr == ""


def test_what_an_unfinished_run_has_learnt_is_used_and_that_is_told(
    leocod: Callable[..., Result], unfinished: Path, photos: Path
) -> None:
    result = leocod("predict", str(unfinished), str(photos), "--out", "out")

    assert result.exit_code == 0
    assert result.stderr == f"leocod: {unfinished} has not finished: this is what it had learnt after step 2.\n"


def test_an_unfinished_run_has_no_report_yet(leocod: Callable[..., Result], unfinished: Path) -> None:
    result = leocod("report", str(unfinished))

    assert result.exit_code == 2
    command = f"leocod run --resume {unfinished}"
    assert result.stderr == f"leocod: {unfinished} has not finished: it has no results yet. Finish it with: {command}\n"


def test_a_finished_run_that_is_resumed_says_that_it_has_finished(
    leocod: Callable[..., Result], finished: Path
) -> None:
    result = leocod("run", "--resume", str(finished))

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"{finished} has finished already: nothing is left to do."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "none", "typo.yaml"), "none is not a run directory"),
        (("predict", "other_run", "none.png"), "No file or folder 'none.png'"),
        (("pretrain", "--set", "step=3"), "step: unknown key. Did you mean 'steps'?"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)


OWN_PARTS = """
from leocod import Incremental, Tiny

class Mine(Incremental):
    pass

class Hides(Incremental):
    @property
    def deployed_detector(self):
        return self.hidden

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.hidden = self.detector.clone()

class MyTiny(Tiny):
    pass
"""


@pytest.fixture
def run_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes a run with parts from a module, which is nowhere to be found afterwards."""

    def run(*arguments: str) -> Path:
        (tmp_path / "modules").mkdir()
        (tmp_path / "modules" / "parts_of_mine.py").write_text(OWN_PARTS)
        with monkeypatch.context() as patched:
            patched.syspath_prepend(tmp_path / "modules")
            done = CliRunner().invoke(app, ["run", *SMALL, *arguments, "--out", str(tmp_path / "own")])
        assert done.exit_code == 0, done.output
        monkeypatch.delitem(sys.modules, "parts_of_mine")
        return tmp_path / "own"

    return run


@pytest.mark.parametrize("plugin", ["efficient_cls", "none"])
def test_a_run_is_used_without_the_module_of_its_strategy(
    plugin: str, leocod: Callable[..., Result], run_elsewhere: Callable[..., Path], photos: Path
) -> None:
    run = run_elsewhere("--strategy", "parts_of_mine:Mine", "--plugin", plugin)

    predicted = leocod("predict", str(run), str(photos), "--out", "out")
    exported = leocod("export", str(run), "--format", "safetensors", "--out", "own.safetensors")

    assert (predicted.exit_code, predicted.stderr) == (0, "")
    assert Path("out/detections.json").is_file()
    assert (exported.exit_code, exported.stderr) == (0, "")
    assert Path("own.safetensors").is_file()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        # Only this strategy knows which detector it deploys.
        (("--strategy", "parts_of_mine:Hides", "--plugin", "none"), "strategy 'parts_of_mine:Hides'"),
        (("--set", "detector={name: parts_of_mine:MyTiny, weights: null}"), "detector 'parts_of_mine:MyTiny'"),
    ],
)
def test_a_module_that_a_run_cannot_do_without_is_named(
    arguments: tuple[str, ...],
    part: str,
    leocod: Callable[..., Result],
    run_elsewhere: Callable[..., Path],
    photos: Path,
) -> None:
    run = run_elsewhere(*arguments)

    result = leocod("predict", str(run), str(photos), "--out", "out")

    assert result.exit_code == 2
    assert f"No module 'parts_of_mine' (for the {part})." in result.stderr
    assert not Path("out").exists()
