"""Published tables are what their runs give, and what is said of them is quoted from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from leocod.paper.outcome import Outcome
from leocod.paper.plan import STANDARD, Plan, load_benchmark
from leocod.paper.table import Table, list_paper_tables, load_table
from leocod.paper.writing import format_numbers, read_records

ROOT = Path(__file__).parents[1]
FIRST = ROOT / "results" / "first_edition"
TEXT = (FIRST / "README.md").read_text(encoding="utf-8")
PAPER = [(folder, name) for folder in (FIRST / "paper", ROOT / "results" / "paper") for name in list_paper_tables()]
OWN = [
    file
    for file in sorted(ROOT.glob("results/**/*.yaml"))
    if re.search("^finished:", file.read_text(encoding="utf-8"), re.MULTILINE)
]
VERDICT = re.compile(r"^(- \*\*[a-z ]+\*\*: .*?)(?: \(Paper: .*)?$", re.MULTILINE)


def section(table: str) -> str:
    """What is said about one table of the first edition: from its heading to the next."""
    [found] = [part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE) if f"`leocod paper {table} " in part]
    return found


def published(table: str) -> str:
    """The table of the first edition, as the command wrote it."""
    return (FIRST / "paper" / f"{table}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", list_paper_tables())
def test_every_verdict_is_quoted_from_the_table(table: str) -> None:
    assert VERDICT.findall(section(table)) == VERDICT.findall(published(table)) != []


@pytest.mark.parametrize("table", list_paper_tables())
def test_every_figure_is_quoted_from_the_table(table: str) -> None:
    quoted = [line for line in section(table).splitlines() if line.startswith("| ") and "%" in line]

    assert quoted
    assert [line for line in quoted if line not in published(table).splitlines()] == []


@pytest.mark.parametrize("table", list_paper_tables())
def test_command_and_commit_are_those_of_the_table(table: str) -> None:
    [made_by] = re.findall(r"^Made by `(leocod paper .*?)`", published(table), flags=re.MULTILINE)
    commits = re.findall(r"\b[0-9a-f]{10}\b", published(table))

    assert f"`{made_by}`" in section(table)
    assert commits
    assert all(commit in TEXT for commit in commits)


@pytest.mark.parametrize(
    ("folder", "name"), [(folder, name) for folder, name in PAPER if (folder / f"{name}.md").exists()]
)
def test_the_published_tables_are_what_their_runs_give(folder: Path, name: str) -> None:
    """Figures, ± and verdicts: all of them by the code of today from the runs as they were recorded."""
    table = load_table(name).model_copy(update={"finished": folder / f"{name}-runs.csv"})
    plan = Plan([table], STANDARD, read_seeds(folder / f"{name}.md"), ROOT / "nowhere")

    check_published(plan, table, folder)


@pytest.mark.parametrize("file", OWN, ids=lambda file: str(file.relative_to(ROOT / "results")))
def test_our_own_tables_are_what_their_runs_give(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    table = load_table(str(file.relative_to(ROOT)))
    seeds = read_seeds(file.with_suffix(".md"))
    plan = Plan([table], load_benchmark(table.benchmark, []), seeds, Path("nowhere"), table.benchmark)

    check_published(plan, table, file.parent)


def read_seeds(page: Path) -> Sequence[int]:
    """The seeds that a table was made with, by its own word; none where rows have seeds of their own."""
    [command] = re.findall(r"^Made by `(.*?)`", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = re.search(r"--seeds ([\d,]+)", command)
    return [int(seed) for seed in found[1].split(",")] if found else ()


def check_published(plan: Plan, table: Table, folder: Path) -> None:
    records = read_records(plan, table)

    assert {record.run for record in records} == set(plan.records[table.name])
    for file, text in format_numbers(plan, Outcome.read(plan, table), records).items():
        # Of tables of earlier versions only these two may have been kept.
        if file.endswith((".md", "-runs.csv")) or (folder / file).exists():
            assert (folder / file).read_text(encoding="utf-8") == text
