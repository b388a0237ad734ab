"""The command line. Heavy imports are inside the commands, so that --help answers at once."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from leocod import __version__
from leocod.cli.conformance import check_strategy
from leocod.cli.data import commands as data_commands
from leocod.cli.detector import export, predict, pretrain
from leocod.cli.list import list_parts
from leocod.cli.live import live
from leocod.cli.paper import paper
from leocod.cli.report import report
from leocod.cli.run import run
from leocod.cli.score import score
from leocod.cli.show import show
from leocod.cli.terminal import console, errors, say
from leocod.errors import LeocodError

# Newer versions of typer carry their own copy of click, so the class is found through typer.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]


NOT_THE_USERS = [
    Path(__file__).parents[1],
    *(Path(path) for key, path in sysconfig.get_paths().items() if key != "data"),
]
"""Folders of code that somebody else has written: leocod, Python, installed packages."""


class _OneLineErrors(TyperGroup):
    """An error that a user can fix is one line on stderr and exit code 2. Anything else is a traceback: our mistake, or
    one in a user's own strategy, of which the last line then tells."""

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **more: Any) -> Any:
        given = list(args)
        try:
            return super().make_context(info_name, args, *others, **more)
        except UsageError as error:
            # Without arguments the "error" is the help text.
            raise (exit_with_message(error) if given else error) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (LeocodError, UsageError) as error:
            raise exit_with_message(error) from error
        except Exception as error:
            if place := find_users_code(error):
                error.add_note(f"leocod: look at {place} first. It is the last code of yours before the error.")
            raise


def find_users_code(error: Exception) -> str | None:
    """File and line of the innermost code that is neither ours nor installed; None where there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.is_file() and not any(file.is_relative_to(folder) for folder in NOT_THE_USERS):
            return f"{file}, line {frame.lineno}"
    return None


def exit_with_message(error: Exception) -> typer.Exit:
    """Print an error as one line; the exit to raise."""
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    say(f"leocod: {' '.join(text.split())}", errors)
    return typer.Exit(2)


app = typer.Typer(
    name="leocod",
    cls=_OneLineErrors,
    help="Online continual object detection from video in which few frames are labelled.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(data_commands, name="data")
for command in (run, live, report, score, show, predict, export, pretrain, paper):
    app.command()(command)
app.command("list")(list_parts)
app.command("test-strategy")(check_strategy)


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"leocod {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Online continual object detection from video in which few frames are labelled."""
