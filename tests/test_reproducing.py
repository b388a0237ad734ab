"""What REPRODUCING.md says is what the tables say: figures and verdicts are quoted from them, not written anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leocod.paper.table import names

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


@pytest.mark.parametrize("table", names())
def test_every_verdict_is_told_as_it_is(table: str) -> None:
    assert VERDICT.findall(section(table)) == VERDICT.findall(published(table)) != []


@pytest.mark.parametrize("table", names())
def test_every_figure_is_quoted_from_the_table(table: str) -> None:
    quoted = [line for line in section(table).splitlines() if line.startswith("| ") and "%" in line]

    assert quoted
    assert [line for line in quoted if line not in published(table).splitlines()] == []


@pytest.mark.parametrize("table", names())
def test_command_and_commit_are_those_of_the_table(table: str) -> None:
    [made_by] = re.findall(r"^Made by `(leocod paper .*?)`", published(table), flags=re.MULTILINE)
    commits = re.findall(r"\b[0-9a-f]{10}\b", published(table))

    assert f"`{made_by}`" in section(table)
    assert commits
    assert all(commit in TEXT for commit in commits)


def test_the_readme_counts_the_verdicts() -> None:
    words = [word for table in names() for word in re.findall(r"^- \*\*([a-z ]+)\*\*", published(table), re.MULTILINE)]
    count = (
        f"Of {len(words)} claims of the paper {words.count('holds')} hold here, "
        f"{words.count('does not hold')} do not, {words.count('within the spread')} are undecided"
    )

    assert count in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
