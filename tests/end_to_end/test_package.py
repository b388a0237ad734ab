"""The wheel and the sdist, as somebody gets them who never sees this repository."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

import leocod

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "leocod"
NAME = f"leocod-{leocod.__version__}"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this source tree."""
    pytest.importorskip("hatchling", reason="NO hatchling: wheel and sdist are not tested. pip install 'leocod[dev]'")
    folder = tmp_path_factory.mktemp("dist")
    _build(ROOT, folder, "wheel", "sdist")
    return folder


@pytest.fixture(scope="module")
def home(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder beside a new environment, in which leocod is installed from the wheel."""
    folder = tmp_path_factory.mktemp("elsewhere")
    _call(folder, sys.executable, "-m", "venv", "env")
    # What leocod depends on is that of the tests: torch is large. A .pth file brings no editable install along.
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "env")}))
    (packages / "tests.pth").write_text("\n".join(entry for entry in sys.path if entry.endswith("-packages")))
    [wheel] = built.glob("*.whl")
    _call(folder, _python(folder), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    (folder / "empty").mkdir()
    return folder


def test_the_wheel_has_the_whole_package_and_nothing_else(built: Path) -> None:
    in_package = {
        f"leocod/{file.relative_to(SOURCE).as_posix()}"
        for file in SOURCE.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    about = {f"{NAME}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}

    found = set(_read_wheel(built))

    assert found == in_package | about | {f"{NAME}.dist-info/licenses/LICENSE"}
    kinds = {"py.typed", "__init__.pyi", "index.html", "page.js", "tiny_start.safetensors", "template.html.j2"}
    assert kinds <= {Path(name).name for name in found}


def test_the_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")

    _build(tmp_path / NAME, tmp_path / "again", "wheel")

    assert _read_wheel(tmp_path / "again") == _read_wheel(built)


def test_leocod_comes_from_the_wheel(home: Path) -> None:
    where = _call(home / "empty", _python(home), "-c", "import leocod; print(leocod.__file__)")

    assert Path(where.strip()).is_relative_to(home / "env")
    assert _leocod(home, "--version") == f"leocod {leocod.__version__}\n"


def test_a_run_its_detector_and_its_export_work_in_an_empty_folder(home: Path) -> None:
    _leocod(home, "run", "--steps", "4", "--out", "runs/first")
    [picture, *_] = sorted((home / "empty" / "runs" / "first" / "samples").glob("test_*.png"))
    _leocod(home, "predict", "runs/first", str(picture), "--out", "found")
    pytest.importorskip("onnxruntime", reason="NO onnxruntime: export is not tested. pip install 'leocod[export]'")
    _leocod(home, "export", "runs/first", "--format", "onnx")

    for made in ("runs/first/report.html", "found", "runs/first/detector.onnx"):
        assert (home / "empty" / made).exists()


def test_the_live_page_is_served_and_ends_in_order(home: Path) -> None:
    pytest.importorskip("uvicorn", reason="NO uvicorn: the live page is not tested. pip install 'leocod[live]'")
    command = [home / "env" / "bin" / "leocod", "live", "--run", "runs/live"]
    with _start(command, home) as process:
        try:
            lines = iter(process.stdout.readline, "")
            [link] = next(found for line in lines if (found := re.findall(r"Open (\S+) in", line)))
            page = urlopen(link, timeout=60).read().decode()
        finally:
            process.send_signal(signal.SIGINT)
        last = process.stdout.read()

    assert "page.js" in page
    assert "Saved." in last
    assert process.returncode == 0


def _build(source: Path, out: Path, *kinds: str) -> None:
    targets = [word for kind in kinds for word in ("--target", kind)]
    _call(source, sys.executable, "-m", "hatchling", "build", "--directory", out, *targets)


def _read_wheel(folder: Path) -> dict[str, bytes]:
    [wheel] = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _python(home: Path) -> Path:
    return home / "env" / "bin" / "python"


def _leocod(home: Path, *words: str) -> str:
    return _call(home / "empty", home / "env" / "bin" / "leocod", *words)


def _call(folder: Path, *command: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=_environment(), capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


def _start(command: list[Any], home: Path) -> Any:
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=home / "empty", env=_environment() | {"PYTHONUNBUFFERED": "1"}, **output)


def _environment() -> dict[str, str]:
    """That of the tests, without what would bring the source tree along."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
