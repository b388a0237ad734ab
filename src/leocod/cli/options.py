"""Options that several commands have."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

Override = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set any key, e.g. strategy.memory_per_class=10. May be repeated."),
]

BenchmarkOverride = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set an option of the benchmark: root=data/oak, steps=10. May be repeated."
    ),
]

Device = Annotated[str | None, typer.Option(help="Where the detector runs: cpu, cuda, cuda:1, mps.")]
PlugIn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Around the strategy: efficient_cls, efficient_cls_plus or none."),
]


def drop_missing(**values: Any) -> dict[str, Any]:
    """The options that were given."""
    return {key: value for key, value in values.items() if value is not None}


def divide_threads(jobs: int | None) -> int:
    """Threads of each of so many jobs at a time; None: one job."""
    return max(1, count_cpus() // (jobs or 1))


def count_cpus() -> int:
    """Processors that this process may use: fewer than the machine has under `taskset` or in a container."""
    # macOS and Windows do not say.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
