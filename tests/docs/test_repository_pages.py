"""Links of the repository hold on the site."""

from pathlib import Path

import pytest
from repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    files = {
        "docs/data.md": "[why](decisions/0001.md) [all](decisions) [code](../src/code.py#L3) [table](../results/a.csv)",
        "docs/decisions/0001.md": "# First\n\n[back](../data.md#top)",
        "src/code.py": '"""```not a fence```"""\n',
        "results/a.csv": "1\n",
        "results/README.md": "# Results\n\n[how](../docs/data.md), [table](a.csv), [gone](gone.md), [far](https://a.org/b.md)",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Repository(tmp_path)


def test_all_that_is_linked_outside_docs_gets_a_place(repository: Repository) -> None:
    found = repository.list_outside(["results/README.md"])

    assert found == ["docs/decisions", "results/README.md", "results/a.csv", "src/code.py"]


def test_links_lead_to_the_place_on_the_site(repository: Repository) -> None:
    text = repository.rewrite_links("docs/data.md", (repository.root / "docs/data.md").read_text())

    assert "[why](decisions/0001.md)" in text
    assert "[all](decisions/index.md)" in text
    assert "[code](repository/src/code.py.md#L3)" in text
    assert "[table](repository/results/a.csv)" in text


def test_pages_outside_docs_link_back(repository: Repository) -> None:
    page = repository.write_page("results/README.md")

    assert page is not None
    assert "[how](../../data.md)" in page
    assert "[table](a.csv)" in page


def test_a_link_that_leads_nowhere_is_left_for_the_strict_build_to_find(repository: Repository) -> None:
    page = repository.write_page("results/README.md")

    assert page is not None
    assert "[gone](gone.md)" in page
    assert "[far](https://a.org/b.md)" in page


def test_a_source_file_is_shown_and_a_folder_listed_and_the_rest_copied(repository: Repository) -> None:
    assert repository.write_page("docs/decisions") == "# Decisions\n\n- [First](0001.md)\n"
    assert repository.write_page("results/a.csv") is None
    assert '"""```not a fence```"""' in (repository.write_page("src/code.py") or "")
