"""What REPRODUCING.md says is what the tables say: figures and verdicts are quoted from them, not written anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leocod.paper.outcome import Outcome
from leocod.paper.plan import STANDARD, Plan, load_benchmark
from leocod.paper.table import list_paper_tables, load_table
from leocod.paper.writing import format_numbers, read_records

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "REPRODUCING.md").read_text(encoding="utf-8")
VERDICT = re.compile(r"^(- \*\*[a-z ]+\*\*: .*?)(?: \(Paper: .*)?$", re.MULTILINE)


def section(table: str) -> str:
    """What is said about one table: from its heading to the next."""
    [found] = [part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE) if f"`leocod paper {table} " in part]
    return found


def published(table: str) -> str:
    """The table, as the command wrote it."""
    return (ROOT / "results" / "paper" / f"{table}.md").read_text(encoding="utf-8")


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


def test_the_readme_counts_the_verdicts() -> None:
    words = [
        word
        for table in list_paper_tables()
        for word in re.findall(r"^- \*\*([a-z ]+)\*\*", published(table), re.MULTILINE)
    ]
    count = (
        f"Of {len(words)} claims of the paper {words.count('holds')} hold here, "
        f"{words.count('does not hold')} do not, {words.count('undecided')} are undecided"
    )

    assert count in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", list_paper_tables())
def test_the_published_tables_are_what_their_runs_give(name: str) -> None:
    """Figures, ± and verdicts: all of them by the code of today from the runs as they were recorded."""
    folder = ROOT / "results" / "paper"
    table = load_table(name).model_copy(update={"finished": folder / f"{name}-runs.csv"})
    [seeds] = re.findall(r"--seeds ([\d,]+)`", published(name))
    plan = Plan([table], STANDARD, [int(seed) for seed in seeds.split(",")], ROOT / "nowhere")

    records = read_records(plan, table)

    assert {record.run for record in records} == set(plan.records[name])
    for file, text in format_numbers(plan, Outcome.read(plan, table), records).items():
        assert (folder / file).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["chance", "labellers", "real_frames", "same_figures", "standard_world", "why"])
def test_our_own_tables_are_what_their_runs_give(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    table = load_table(f"results/{name}/{name}.yaml")
    plan = Plan([table], load_benchmark(table.benchmark, []), (), Path("nowhere"), table.benchmark)

    records = read_records(plan, table)
    files = format_numbers(plan, Outcome.read(plan, table), records)

    assert {record.run for record in records} == set(plan.records[name])
    for file in (f"{name}.md", f"{name}-runs.csv"):
        assert (ROOT / "results" / name / file).read_text(encoding="utf-8") == files[file]
