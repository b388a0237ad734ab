"""Every Python that leocod is for: those on this machine compile all code, and import what they have packages for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))

COMPILE = """
import sys, warnings
from pathlib import Path
warnings.simplefilter("error")
files = [file for folder in sys.argv[1:] for file in Path(folder).rglob("*.py")]
for file in files:
    compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
print(len(files))
"""

IMPORT = """
import importlib, json, sys
imported, missing = [], set()
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
        imported.append(name)
    except ModuleNotFoundError as error:
        if error.name.startswith("leocod"):
            raise
        missing.add(error.name)
print(json.dumps([imported, sorted(missing)]))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest) -> str:
    """A Python of this version."""
    version = request.param
    candidates = [
        sys.executable,
        shutil.which(f"python{version}"),
        *sorted(PYENV.glob(f"versions/{version}.*/bin/python")),
    ]
    for candidate in filter(None, candidates):
        told = subprocess.run(
            [candidate, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True
        )
        # What pyenv puts on the path is there for every version and works for some.
        if told.stdout.split() == version.split("."):
            return str(candidate)
    pytest.skip(f"NO Python {version} on this machine: it is not tried")


def test_all_code_compiles_without_a_warning(python: str) -> None:
    folders = [str(ROOT / folder) for folder in ("src", "examples", "tests", "bench", "soak", "fuzz", "docs")]

    done = subprocess.run([python, "-c", COMPILE, *folders], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


def test_every_module_whose_packages_are_there_can_be_imported(python: str) -> None:
    files = sorted((ROOT / "src").rglob("*.py"))
    names = [".".join(file.relative_to(ROOT / "src").with_suffix("").parts) for file in files if file.stem[0] != "_"]

    done = subprocess.run(
        [python, "-c", IMPORT, *names],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    imported, missing = json.loads(done.stdout)
    if missing:
        pytest.skip(f"{python} imports {len(imported)} of {len(names)} modules: it has NO {', '.join(missing)}")
