"""What the README says is true, and every page leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/**/*.md")]


def test_the_python_example_runs_and_tells_ap_by_class(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)

    exec(compile(code, "README.md", "exec"), {})

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "5"]
    assert "'mug':" in lines[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_of_code_that_a_page_names_is_there(page):
    named = re.findall(r"(?<![\w/])(?:tests|src|soak|bench|fuzz|examples)/[\w/]+\.py", page.read_text(encoding="utf-8"))

    assert [file for file in named if not (ROOT / file).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_links_to_is_there(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []
