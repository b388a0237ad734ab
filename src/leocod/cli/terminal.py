"""How commands print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def say(line: str, where: Console = console) -> None:
    """Print a line of any length as it is: a name may look like markup, or like a command to the terminal."""
    from leocod.text import one_line

    where.print(one_line(line), markup=False, soft_wrap=True)


def announce_start() -> None:
    """Say at once that the command has begun, where torch must be imported first: a busy machine needs long for it."""
    # Of several processes that train as one, the first one speaks.
    if "torch" not in sys.modules and os.environ.get("RANK", "0") == "0":
        say("Starting. PyTorch takes a moment to load.")


@contextmanager
def show_progress(things: str) -> Iterator[Callable[[int], None]]:
    """Show a progress bar. It moves by one with each call; the argument is the number of all things."""
    from rich.progress import Progress

    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(things, total=None)
        yield lambda total: bar.update(task, total=total, advance=1)
