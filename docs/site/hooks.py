"""What MkDocs calls while it builds the site: adds generated pages, fills places in pages, and rewrites links."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebook import SOURCE, write_page
from repository import OUTSIDE, Repository

ROOT = Path(__file__).parents[2]
STUB = ROOT / "src" / "leocod" / "__init__.pyi"
REPOSITORY = Repository(ROOT)
NOTEBOOK = SOURCE.with_suffix(".ipynb")
FIRST = [
    "REPRODUCING.md",
    "CHANGELOG.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "results/README.md",
    "docs/decisions",
]
"""Pages of the navigation that lie outside docs/."""

PLACES = {
    "commands": reference.write_commands,
    "options": reference.list_option_pages,
    "run directory": reference.write_run_directory,
    "results": reference.write_results,
    "api": lambda: reference.list_api_pages(STUB),
}
"""`<!-- generated: NAME -->` in a page stands for what this makes."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation, below the pages that list them."""
    for section in config.nav or []:
        if "Reference" in section:
            section["Reference"] = [_expand(entry) for entry in section["Reference"]]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from code, and those of files outside docs/."""
    pages = {f"reference/{folder}/{file}": text for folder, file, _, text in _list_generated()}
    pages["reference/results.schema.json"] = reference.write_schema()
    text, pictures = write_page(json.loads(NOTEBOOK.read_text(encoding="utf-8")), NOTEBOOK.stem)
    pages[f"{NOTEBOOK.stem}.md"] = REPOSITORY.rewrite_links(f"docs/{NOTEBOOK.name}", text)
    for uri, content in {**pages, **pictures}.items():
        files.append(File.generated(config, uri, content=content))
    results = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "results").glob("*/README.md"))]
    for path in REPOSITORY.list_outside([*FIRST, *results]):
        text = REPOSITORY.write_page(path)
        content: dict[str, Any] = {"content": text} if text is not None else {"abs_src_path": str(ROOT / path)}
        files.append(File.generated(config, REPOSITORY.uri(path), **content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links to files outside docs/, and fill the places for what is generated."""
    if page.file.generated_by:
        # Whoever searches wants to read how it works before what came out.
        page.meta.setdefault("search", {"boost": 0.3 if page.file.src_uri.startswith(OUTSIDE) else 1})
        return markdown
    text = REPOSITORY.rewrite_links(f"docs/{page.file.src_uri}", markdown)
    for name, write in PLACES.items():
        place = f"<!-- generated: {name} -->"
        if place in text:
            text = text.replace(place, write())
    return text


@cache
def _list_generated() -> list[tuple[str, str, str, str]]:
    """Folder, file, title and text of every page that is made from code."""
    options = [("options", *page) for page in reference.write_options()]
    return options + [("api", *page) for page in reference.write_api(STUB)]


def _expand(entry: dict[str, Any]) -> dict[str, Any]:
    """A page of the navigation with its generated pages below it, if it has some."""
    ((title, index),) = entry.items()
    folder = Path(index).parent.name
    below = [{name: f"reference/{folder}/{file}"} for kind, file, name, _ in _list_generated() if kind == folder]
    return {title: [index, *below]} if below else entry
