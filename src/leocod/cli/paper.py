"""`leocod paper`: tables of many runs, the paper's and one's own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column
from rich.table import Table as Grid

from leocod.cli.options import count_cpus, divide_threads
from leocod.cli.terminal import console, errors, say
from leocod.errors import InvalidConfig
from leocod.text import pluralize, shorten

if TYPE_CHECKING:
    from leocod.paper.plan import Plan
    from leocod.paper.table import Table

Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="TABLE...", help="Names that `list` shows, `all` of the paper's, or files such as my_table.yaml."
    ),
]
Benchmark = Annotated[
    str | None,
    typer.Option(
        metavar="wander|CONFIG.yaml",
        help="The built-in world, or a config of `leocod run`, such as oak.yaml. "
        "By default the table's: for the paper's tables the built-in world.",
    ),
]
Seeds = Annotated[
    str | None, typer.Option(metavar="N,...", help="Each row is run with each of them. By default the table's.")
]
Rows = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY",
        help="Run only the row with this key. A pattern such as 'icarl*' chooses several. May be repeated. "
        "The tables are written whole.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Cells at a time, each in a process; threads are divided among them [1]. With --ray: on each machine, "
        "by default one for each CPU.",
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|auto", help="Run the cells on a Ray cluster. auto: the one of this machine, or a new one."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list what would run, and how long it takes if known.")]
NoRun = Annotated[bool, typer.Option("--no-run", help="Only write the tables, from the cells that have finished.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set any key of the benchmark's config. May be repeated."),
]
Finished = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="NAME-runs.csv",
        help="Runs that were made earlier on this benchmark: they count as finished, wherever their directories are. "
        "May be repeated.",
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Classes of the figure over time. By default rare to frequent ones."),
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of cells and tables; by default runs/paper-BENCHMARK.")
]


def paper(
    tables: Tables,
    benchmark: Benchmark = None,
    seeds: Seeds = None,
    rows: Rows = None,
    jobs: Jobs = None,
    ray: Ray = None,
    dry_run: DryRun = False,
    no_run: NoRun = False,
    overrides: Overrides = None,
    finished: Finished = None,
    classes: Classes = None,
    out: Out = None,
) -> None:
    """Run the cells of tables, the paper's or your own, and write the tables.

    A cell of a table is one run. A finished cell is never run again, an interrupted one is resumed, and one that fails
    does not stop the others. Start the same command again to continue, however it ended.
    """
    if tables == ["list"]:
        _list_tables()
        return
    plan = make_plan(
        tables, benchmark, () if seeds is None else parse_seeds(seeds), overrides or (), out, finished or (), rows or ()
    )
    chosen = [name.strip() for name in classes.split(",")] if classes else []
    _check_classes(plan, chosen)
    plan.prepare()
    threads = 1 if ray and jobs is None else divide_threads(jobs)
    at_a_time = (jobs or 1) if ray is None else max(1, count_cpus() // threads)
    if dry_run:
        _show_forecast(plan, at_a_time, threads)
        return
    failures = {} if no_run else run_plan(plan, at_a_time, threads, ray)
    for table in plan.tables:
        _write(plan, table, chosen)
    exit_if_failed(failures)


def exit_if_failed(failures: Mapping[str, str]) -> None:
    """Name the cells that failed, and end with exit code 1 if there are any."""
    for name, failure in failures.items():
        say(f"leocod: {name} failed: {failure}", errors)
    if failures:
        raise typer.Exit(1)


def make_plan(
    names: Sequence[str],
    benchmark: str | None,
    seeds: Sequence[int],
    overrides: Sequence[str],
    out: Path | None,
    finished: Sequence[Path] = (),
    rows: Sequence[str] = (),
) -> Plan:
    """What is to be run for these tables."""
    from leocod.paper.plan import Plan, choose_benchmark, load_benchmark
    from leocod.paper.table import list_paper_tables, load_table
    from leocod.run.layers import parse_override

    tables = [load_table(name) for name in (list_paper_tables() if names == ["all"] else dict.fromkeys(names))]
    by_name = {table.name: table for table in tables}
    for table in tables:
        if by_name[table.name] is not table:
            raise InvalidConfig(
                f"{table.argument} and {by_name[table.name].argument} would write the same files. Run them separately."
            )
    chosen = benchmark or choose_benchmark(tables)
    base = load_benchmark(chosen, [parse_override(text) for text in overrides])
    place = out or Path("runs") / f"paper-{Path(chosen).stem}"
    return Plan(tables, base, seeds, place, chosen, overrides, finished, rows)


def _check_classes(plan: Plan, names: Sequence[str]) -> None:
    """Before hours of runs, not after."""
    from leocod.errors import UnknownName
    from leocod.run.config import load_mapping

    if not names:
        return
    if not any(table.argument == "figures" for table in plan.tables):
        raise InvalidConfig("--classes is for the figures: use it with `leocod paper figures`, or leave it out.")
    config = load_mapping(plan.base)
    known = config.benchmark.build(config.seed).classes
    for name in names:
        if name not in known:
            raise UnknownName("class", name, known)


def _list_tables() -> None:
    from leocod.paper.table import list_tables, load_table

    grid = Grid.grid("", "", "", "", padding=(0, 2))
    for name in list_tables():
        table = load_table(name)
        runs = sum(max(row.selections, 1) * len(row.seeds or table.seeds) for row in table.rows)
        grid.add_row(f"[cyan]{name}[/cyan]", table.in_paper, table.title, pluralize(runs, "run"))
    console.print(grid)


def _show_forecast(plan: Plan, jobs: int, threads: int) -> None:
    from leocod.paper.forecast import Forecast
    from leocod.report.page import format_duration

    forecast = Forecast(plan, jobs=jobs, threads=threads)
    todo = [cell for cell in plan.cells if cell.state != "finished"]
    left = forecast.time_left(todo)
    grid = Grid(Column("cell", overflow="fold"), "", Column("time left", justify="right"), box=None)
    for cell in plan.cells:
        seconds = None if cell.state == "finished" else forecast.seconds_left(cell)
        grid.add_row(cell.name, cell.state, "" if seconds is None else f"about {format_duration(seconds)}")
    console.print(grid, soft_wrap=True)
    count = f"{len(todo)} of {pluralize(len(plan.cells), 'cell')} to run, {jobs} at a time"
    if not todo:
        say(f"{count}.")
    elif left is None:
        say(f"{count}. How long they take is not known before the first cell has finished.")
    else:
        say(f"{count}: about {format_duration(left)}, {forecast.basis}.{_describe_load()}")


def _describe_load() -> str:
    """A sentence about a machine that has more to do than processors, since the times are those of a free one."""
    # Windows does not say.
    load, cpus = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, count_cpus()
    busy = f" The machine is busy now (load {load:.1f}, {pluralize(cpus, 'processor')}): it may take longer."
    return busy if load > cpus else ""


def run_plan(plan: Plan, jobs: int, threads: int, ray: str | None = None) -> dict[str, str]:
    """Run all cells that are not finished. Returns the cells that failed, and why."""
    from leocod.paper.cluster import run_on_ray
    from leocod.paper.forecast import Forecast
    from leocod.paper.live import LiveTable
    from leocod.paper.processes import run_cells

    todo = [cell for cell in plan.cells if cell.state != "finished"]
    if not todo:
        return {}
    if ray is None:
        progress = run_cells(todo, jobs=jobs, threads=threads, logs=plan.logs)
    else:
        progress = run_on_ray(todo, address=ray, threads=threads, logs=plan.logs)
    live = LiveTable(plan, todo, console, Forecast(plan, jobs=jobs, threads=threads).time_left)
    with closing(progress):
        try:
            live.follow(progress)
        except KeyboardInterrupt:
            say("leocod: interrupted. Start the same command again to continue.", errors)
            raise typer.Exit(130) from None
    return live.failures


def _write(plan: Plan, table: Table, classes: Sequence[str]) -> None:
    from leocod.paper.figures import write_figures
    from leocod.paper.live import build_grid, list_verdicts
    from leocod.paper.outcome import Outcome
    from leocod.paper.starts import warn_of_other_starts
    from leocod.paper.writing import write_table

    files = write_figures(plan, table, classes) if table.argument == "figures" else write_table(plan, table)
    outcome = Outcome.read(plan, table)
    console.print(build_grid(outcome))
    for line in list_verdicts(outcome):
        console.print(line)
    for warning in warn_of_other_starts(outcome):
        say(warning, errors)
    say(f"Table: {', '.join(map(str, files))}")


def parse_seeds(text: str) -> list[int]:
    """The seeds of --seeds."""
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        seeds = [-1]
    if min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise InvalidConfig(f"--seeds is {shorten(text)}: it should be different whole numbers, such as 0,1,2.")
    return seeds
