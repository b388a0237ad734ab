import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from leocod import __version__
from leocod.__main__ import WAITING, sleep_while_waiting
from leocod.cli.main import find_users_code

CLUMSY = """
from leocod import ICaRL

class Clumsy(ICaRL):
    def batches(self, step):
        return self.memory.sample("eight", "frames", "too many")
"""

COMMANDS = ("run", "report", "list", "show", "predict", "export", "pretrain", "paper", "score", "data")


def test_help_names_every_command(leocod: Callable[..., Result]) -> None:
    result = leocod("--help")

    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.output
        assert leocod(command, "--help").exit_code == 0


def test_the_version_is_told(leocod: Callable[..., Result]) -> None:
    assert leocod("--version").output.strip() == f"leocod {__version__}"


def test_without_arguments_it_shows_the_help(leocod: Callable[..., Result]) -> None:
    assert "Commands" in leocod().output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rnu",), "rnu"),
        (("--vresion",), "--vresion"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)


def test_a_mistake_in_ones_own_strategy_is_told_with_its_line(
    leocod: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clumsy.py").write_text(CLUMSY)
    monkeypatch.syspath_prepend(str(tmp_path))

    result = leocod("run", "--strategy", "clumsy:Clumsy", "--steps", "1", "--set", "evaluate.start=false")

    assert isinstance(result.exception, TypeError)
    place = f"{tmp_path / 'clumsy.py'}, line 6"
    assert result.exception.__notes__ == [
        f"leocod: look at {place} first. It is the last code of yours before the error."
    ]


def test_without_code_of_the_user_there_is_no_such_line() -> None:
    assert find_users_code(ValueError("never raised")) is None


def test_threads_that_wait_sleep_unless_the_user_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WAITING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_WAIT_POLICY", "removed again after the test")
    monkeypatch.delenv("OMP_WAIT_POLICY")
    sleep_while_waiting()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"

    monkeypatch.delenv("OMP_WAIT_POLICY")
    monkeypatch.setenv("GOMP_SPINCOUNT", "1000")
    sleep_while_waiting()
    assert "OMP_WAIT_POLICY" not in os.environ


def test_waiting_is_settled_before_torch_is_imported() -> None:
    code = "import sys; sys.argv = ['leocod', '--version']; import leocod.__main__ as m; m.main()"
    check = "import atexit, os; atexit.register(lambda: print(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules))"
    clean = {key: value for key, value in os.environ.items() if key not in WAITING}

    done = subprocess.run([sys.executable, "-c", f"{check}; {code}"], env=clean, capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "PASSIVE False"


def test_a_shell_can_complete_commands_and_options() -> None:
    code = "import sys; sys.argv = ['leocod']; from leocod.__main__ import main; main()"

    def complete(words: str, number: int) -> list[str]:
        asked = {"_LEOCOD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number)}
        done = subprocess.run([sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True)
        return done.stdout.split()

    assert complete("leocod re", 1) == ["report"]
    assert complete("leocod run --stra", 2) == ["--strategy"]


def test_completion_can_be_installed(leocod: Callable[..., Result]) -> None:
    assert "--install-completion" in leocod("--help").output


def test_what_a_terminal_has_no_code_for_is_a_question_mark_and_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "leocod", "show", "wander", "--set", "steps=1", "--classes", "1"]

    done = subprocess.run(
        command, env=os.environ | {"PYTHONIOENCODING": "cp1252"}, cwd=tmp_path, capture_output=True, encoding="cp1252"
    )

    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout
