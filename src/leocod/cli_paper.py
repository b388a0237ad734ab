"""`leocod paper`: the paper's tables and figures, ours beside theirs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from leocod.cli_data import say
from leocod.errors import InvalidConfig

console = Console(highlight=False)


def paper(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="`list` shows them; `all` is every one of them.")
    ],
    benchmark: Annotated[
        str, typer.Option(metavar="wander|CONFIG.yaml", help="The built-in world, or a config of your own data.")
    ] = "wander",
    seeds: Annotated[
        str | None, typer.Option(metavar="N,...", help="Each row is run with each of them. By default the table's own.")
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="Cells that run at a time, each in a process.")] = 1,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set any key of the benchmark's config. May be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Cells and tables; by default runs/paper-BENCHMARK.")
    ] = None,
) -> None:
    """Run what a table of the paper needs, and fill our figures in beside the paper's.

    A cell of a table is one run. One that has ended is never run again, one that was broken off goes on, and one that
    fails does not stop the others: the same command again takes up where the last one ended, however that was.
    """
    from leocod.config import override
    from leocod.paper.plan import Plan, benchmark_config
    from leocod.paper.processes import run_cells
    from leocod.paper.table import load, names

    base = benchmark_config(benchmark, [override(text) for text in overrides or ()])
    chosen = names() if tables == ["all"] else tables
    plan = Plan(
        [load(name) for name in chosen],
        base,
        _numbers(seeds) if seeds else (),
        out or Path("runs") / f"paper-{Path(benchmark).stem}",
    )
    plan.settle()
    todo = [cell for cell in plan.cells if cell.state != "finished"]
    threads = max(1, (os.cpu_count() or 1) // jobs)
    failures = 0
    for told in run_cells(todo, jobs=jobs, threads=threads, logs=plan.logs):
        if told is not None:
            failures += told.failure is not None
            say(f"{told.cell.name}: {told.failure or 'finished'}")
    if failures:
        raise typer.Exit(1)


def _numbers(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = [-1]
    if min(found) < 0 or len(set(found)) < len(found):
        raise InvalidConfig(f"--seeds is '{text}': it should be different whole numbers, such as 0,1,2.")
    return found
