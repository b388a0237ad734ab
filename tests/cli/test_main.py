from collections.abc import Callable

import pytest
from typer.testing import Result

from leocod import __version__

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
