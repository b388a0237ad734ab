"""What holds for the repository as a whole."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import leocod
from leocod.config import load_config

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "leocod"
MODULES = sorted(file for file in SOURCE.rglob("*.py") if not file.name.startswith("__"))


@pytest.mark.parametrize("module", MODULES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_module_has_its_test(module: Path) -> None:
    inside = module.relative_to(SOURCE)

    assert (ROOT / "tests" / inside.parent / f"test_{inside.name}").is_file()


@pytest.mark.parametrize("file", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda file: file.name)
def test_every_config_loads(file: Path) -> None:
    load_config(file)


def test_public_names_are_all_there_and_are_what_they_say() -> None:
    assert sorted(leocod.__all__) == sorted({*leocod._HOME, "__version__"})
    assert dir(leocod) == sorted(leocod.__all__)
    for name in leocod.__all__:
        assert getattr(leocod, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = leocod.nothing


@pytest.mark.parametrize(
    "statement",
    ["import leocod", "from typer.testing import CliRunner; import leocod.cli as c; CliRunner().invoke(c.app, ['-h'])"],
)
def test_the_front_door_opens_without_torch(statement: str) -> None:
    check = "import sys; assert not {'torch', 'matplotlib', 'numpy'} & set(sys.modules)"

    subprocess.run([sys.executable, "-c", f"{statement}; {check}"], check=True, env=_environment())


def test_python_m_leocod_is_leocod() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "leocod", "--version"], check=True, env=_environment(), capture_output=True, text=True
    )

    assert done.stdout.strip() == f"leocod {leocod.__version__}"


def test_no_file_speaks_of_the_machine_it_was_written_on() -> None:
    homes = re.compile(r"(?<![\w.])/(?:home|Users|root|tmp|work)/\w+")
    texts = [
        file
        for pattern in (
            "*.md",
            "*.toml",
            "*.txt",
            "Makefile",
            ".ci/*",
            ".*.yaml",
            "configs/*",
            "docs/**/*.md",
            "src/**/*.py",
        )
        for file in ROOT.glob(pattern)
        if file.is_file()
    ]

    assert texts
    assert [file.name for file in texts if homes.search(file.read_text(encoding="utf-8"))] == []


def test_every_module_stays_readable_in_one_sitting() -> None:
    lengths = {str(file.relative_to(SOURCE)): len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}

    assert {name: length for name, length in lengths.items() if length > 350} == {}


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT / "src"), "PATH": ""}
