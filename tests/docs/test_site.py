"""The whole site, built as `make docs` builds it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package, reason=f"NO {package}: the site is not tested. pip install 'leocod[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_builds_without_a_warning_and_can_be_searched_without_a_server(site: Path) -> None:
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = ")
    assert 'src="assets/iframe-worker.js"' in (site / "index.html").read_text(encoding="utf-8")


def test_no_page_fetches_anything_from_another_host(site: Path) -> None:
    fetches = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)="?(?:https?:)?//[^">\s]+')
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}

    assert len(pages) > 50
    assert {str(page): found for page, text in pages.items() if (found := fetches.findall(text))} == {}


def test_every_anchor_of_a_page_is_there(site: Path) -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html") if page.name != "404.html"}
    anchors = {page.resolve(): set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}

    missing = [
        (str(page.relative_to(site)), link)
        for page, text in pages.items()
        for link in re.findall(r'<a\b[^>]*?\bhref="([^":]*#[^"]+)"', text)
        if link.partition("#")[2] != "__skip"
        and (target := (page.parent / link.partition("#")[0]).resolve() if link[0] != "#" else page.resolve())
        in anchors
        and link.partition("#")[2] not in anchors[target]
    ]
    assert missing == []


def test_generated_pages_are_in_the_navigation(site: Path) -> None:
    home = (site / "reference" / "commands.html").read_text(encoding="utf-8")

    for page in ("options/strategies.html", "api/strategies.html", "options/index.html", "results.html"):
        assert f'href="{page}"' in home
