"""`leocod paper`: the paper's tables and figures, ours beside theirs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.table import Table as Grid

from leocod.cli.data import say
from leocod.errors import InvalidConfig

if TYPE_CHECKING:
    from leocod.paper.plan import Plan
    from leocod.paper.table import Table

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


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
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Cells at a time, each in a process; threads are divided among them [1]. With --ray: on each machine, "
            "by default one for each CPU.",
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|auto", help="Run the cells on a Ray cluster; auto: on this machine's, or a new one."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would run and how long; tries a few steps of each kind.")
    ] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set any key of the benchmark's config. May be repeated."),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Of the figure over time. By default rare to frequent ones.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Cells and tables; by default runs/paper-BENCHMARK.")
    ] = None,
) -> None:
    """Run what a table of the paper needs, and fill our figures in beside the paper's.

    A cell of a table is one run. One that has ended is never run again, one that was broken off goes on, and one that
    fails does not stop the others: the same command again takes up where the last one ended, however that was.
    """
    from leocod.paper.plan import Plan, benchmark_config
    from leocod.paper.table import load, names
    from leocod.run.layers import parse_override

    if tables == ["list"]:
        _list_tables()
        return
    base = benchmark_config(benchmark, [parse_override(text) for text in overrides or ()])
    plan = Plan(
        [load(name) for name in (names() if tables == ["all"] else tables)],
        base,
        () if seeds is None else _numbers(seeds),
        out or Path("runs") / f"paper-{Path(benchmark).stem}",
        benchmark,
        overrides or (),
    )
    wanted = [name.strip() for name in classes.split(",")] if classes else []
    _check_classes(plan, wanted)
    plan.settle()
    cpus = os.cpu_count() or 1
    threads = 1 if ray and jobs is None else max(1, cpus // (jobs or 1))
    at_a_time = (jobs or 1) if ray is None else max(1, cpus // threads)
    if dry_run:
        _forecast(plan, at_a_time, threads)
        return
    failures = _run(plan, at_a_time, threads, ray)
    for table in plan.tables:
        _write(plan, table, wanted)
    if failures:
        for name, failure in failures.items():
            say(f"leocod: {name} failed: {failure}", errors)
        raise typer.Exit(1)


def _check_classes(plan: Plan, wanted: Sequence[str]) -> None:
    """Before hours of runs, not after."""
    from leocod.errors import UnknownName
    from leocod.run.config import load_mapping

    if not wanted:
        return
    if not any(table.name == "figures" for table in plan.tables):
        raise InvalidConfig("--classes is about the figures: give it with `leocod paper figures`, or leave it out.")
    config = load_mapping(plan.base)
    known = config.benchmark.build(config.seed).classes
    for name in wanted:
        if name not in known:
            raise UnknownName("class", name, known)


def _list_tables() -> None:
    from leocod.paper.table import load, names

    grid = Grid.grid("", "", "", "", padding=(0, 2))
    for name in names():
        table = load(name)
        runs = sum(max(row.selections, 1) for row in table.rows) * len(table.seeds)
        grid.add_row(f"[cyan]{name}[/cyan]", table.in_paper, table.title, f"{runs} runs")
    console.print(grid)


def _forecast(plan: Plan, jobs: int, threads: int) -> None:
    from leocod.paper.forecast import forecast
    from leocod.report.page import format_duration

    found = forecast(plan, jobs=jobs, threads=threads, tell=say)
    grid = Grid("cell", "", Column("time left", justify="right"), box=None)
    for cell, state, seconds in found.cells:
        grid.add_row(cell.name, state, "" if state == "finished" else format_duration(seconds))
    console.print(grid, soft_wrap=True)
    todo = sum(state != "finished" for _, state, _ in found.cells)
    say(f"{todo} of {len(found.cells)} cells to run, {jobs} at a time: {format_duration(found.seconds)}.")


def _run(plan: Plan, jobs: int, threads: int, ray: str | None) -> dict[str, str]:
    """All cells that are not finished; which have failed, and why."""
    from leocod.paper.cluster import run_on_ray
    from leocod.paper.forecast import TimeLeft
    from leocod.paper.live import LiveTable
    from leocod.paper.processes import run_cells

    todo = [cell for cell in plan.cells if cell.state != "finished"]
    if not todo:
        return {}
    if ray is None:
        running = run_cells(todo, jobs=jobs, threads=threads, logs=plan.logs)
    else:
        running = run_on_ray(todo, address=ray, threads=threads, logs=plan.logs)
    live = LiveTable(plan, todo, console, TimeLeft(plan, jobs=jobs, threads=threads))
    with closing(running):
        try:
            live.follow(running)
        except KeyboardInterrupt:
            say("leocod: interrupted. The same command goes on.", errors)
            raise typer.Exit(130) from None
    return live.failures


def _write(plan: Plan, table: Table, classes: Sequence[str]) -> None:
    from leocod.paper.figures import write_figures
    from leocod.paper.live import table_grid, verdict_lines
    from leocod.paper.outcome import Outcome
    from leocod.paper.writing import write_table

    files = write_figures(plan, table, classes) if table.name == "figures" else write_table(plan, table)
    outcome = Outcome.of(plan, table)
    console.print(table_grid(outcome))
    for line in verdict_lines(outcome):
        console.print(line)
    say(f"Table: {', '.join(map(str, files))}")


def _numbers(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = [-1]
    if min(found) < 0 or len(set(found)) < len(found):
        raise InvalidConfig(f"--seeds is '{text}': it should be different whole numbers, such as 0,1,2.")
    return found
