"""Code in the pages compiles and, where it is marked, runs. Examples are shown, and no other host is named."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("docs/**/*.md"))
BLOCK = re.compile(r"(?P<runs><!-- runs -->\n)?```python\n(?P<code>.*?)```", flags=re.DOTALL)
BLOCKS = [
    pytest.param(page, match["code"], match["runs"], id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(("page", "code", "runs"), BLOCKS)
def test_python_compiles_and_where_marked_runs(page: Path, code: str, runs: str | None) -> None:
    # A snippet stands for the file itself.
    whole = re.sub(r"--8<--\n(.+)\n--8<--", lambda match: (ROOT / match[1]).read_text(encoding="utf-8"), code)
    compiled = compile(whole, str(page), "exec", dont_inherit=True)

    if runs:
        exec(compiled, {})


def test_some_code_runs() -> None:
    assert any(block.values[2] for block in BLOCKS)


@pytest.mark.parametrize("example", sorted(ROOT.glob("examples/own_*.py")), ids=lambda file: file.name)
def test_every_example_of_an_own_part_is_on_a_page(example: Path) -> None:
    assert any(f"--8<--\nexamples/{example.name}\n--8<--" in page.read_text(encoding="utf-8") for page in PAGES)


@pytest.mark.parametrize("file", ["mkdocs.yml", "docs/assets/site.css"])
def test_the_site_names_no_other_host(file: str) -> None:
    assert "://" not in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_lists_and_code_inside_a_list_are_indented_for_the_site(page: Path) -> None:
    """A code host takes two columns for a level; Python-Markdown, which builds the site, takes only four."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)

    nested = re.findall(r"^ {1,3}(?:[-*]|\d+\.) .*", text, flags=re.MULTILINE)
    code = re.findall(r"^\n {5,7}[^ -].*", text, flags=re.MULTILINE)
    unended = re.findall(r"^ {8}.*\n[-*] .*", text, flags=re.MULTILINE)

    assert nested + code + unended == []
