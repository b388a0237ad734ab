"""Whatever a name is, the page shows it as text: it is no element, no attribute, no formula, and nothing runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from shutil import copytree
from typing import Any
from xml.etree import ElementTree

import pytest

from leocod.evaluation.metrics.base import compute_metrics, find_metrics, list_shipped
from leocod.evaluation.results import LONGEST
from leocod.files.run_files import make_legible as legible
from leocod.report.history import read_history
from leocod.report.report import write_report

NAMES = (
    "<script>document.title = 'ran'</script>",
    '"><img src=x onerror="document.title=\'ran\'">',
    "' onload='document.title=1' x='",
    "]]><script>1</script><![CDATA[",
    "--><svg onload=1><!--",
    "</title></style></pre></svg><h1>broken</h1>",
    "$x_y$",
    r"$\frac{1}{",
    "5 $",
    "two\nlines\r\tand a tab",
    "nul\0 and \x1b[31mred",
    "\u202egnp.exe\u2066",
    "half \ud800 a character",
    "no character \uffff\ufdd0",
    "👩\u200d🍳 עברית हिन्दी 漢字",
    "{{ 7 * 7 }}{% raw %}",
    "[red]markup[/red]",
    ' id="text_1" &amp; &#60;',
    "javascript:document.title=1",
    "_hidden",
    "",
    "x" * 10_000,
)
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "b", "div", "span", "br",
    "i", "section", "figure", "figcaption", "details", "summary", "pre", "table", "thead", "tbody", "tr", "th",
    "td", "svg", "g", "defs", "path", "use", "text", "rect", "image", "clippath", "ul", "li",
    "nav", "ol", "a",
}  # fmt: skip
ATTRIBUTES = {
    "aria-label", "charset", "class", "clip-path", "content", "d", "font-size", "height", "href", "http-equiv",
    "id", "lang", "name", "open", "role", "stroke-width", "style", "text-anchor", "transform", "type", "version",
    "viewbox", "width", "x", "xlink:href", "xmlns", "xmlns:xlink", "y",
}  # fmt: skip
"""What a page is made of. Anything else can only have come out of a name."""
HOSTILE_RUN = "<img src=x onerror='document.title=1'>$x_y$ \"&\n\x1b[31m"


class Elements(HTMLParser):
    """Which elements there are, with which attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def with_names(run: Path, names: Sequence[str]) -> Path:
    """The same run with these names in every file, wherever a text may stand; there are as many classes as names."""
    lines = (run / "events.jsonl").read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"classes": names})
    lines += [json.dumps({"event": "Warned", "step": 1, "what": name}) for name in names]
    (run / "events.jsonl").write_text("\n".join(lines))
    results = json.loads((run / "results.json").read_text())
    for one in results["evaluations"]:
        one["ap_by_class"] = {name: 10.0 + number for number, name in enumerate(names)}
    results |= {"benchmark": names[0], "detector": names[1], "strategy": names[2], "diagnosis": names[0]}
    shown = {name: name[:LONGEST] for name in names}
    words = {name: {"label": text, "title": text, "unit": text, "direction": "lower"} for name, text in shown.items()}
    results |= {"scores": dict.fromkeys(names, 1.0) | {"undescribed " + names[0]: 2.0}, "metrics": words}
    test = json.loads((run / "test.json").read_text())
    test["categories"] = [{"id": number, "name": name} for number, name in enumerate(names, start=1)]
    write(run / "test.json", test)
    write(run / "results.json", results | {"seconds_by_part": dict.fromkeys(names, 1.0)})
    held = {name: {"frames": 1, "seen": 2} for name in names}
    write(run / "memory.json", {"bytes": 1, "frames": 1, "by_class": held})
    write(run / "environment.json", {"command": names, "more": dict.fromkeys(names, names)})
    samples = json.loads((run / "samples" / "samples.json").read_text())
    boxes = [[1, 1, 50, 50, name, 0.9] for name in names]
    write(run / "samples" / "samples.json", [sample | {"boxes": boxes} for sample in samples])
    # What YAML itself refuses is left out.
    said = [json.dumps(name, ensure_ascii=False) for name in names if legible(name) == name]
    (run / "config.yaml").write_text("".join(f"- {name}\n" for name in said), encoding="utf-8")
    return run


def write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, whole_run: Path) -> str:
    """The page about two runs with hostile names."""
    folder = tmp_path_factory.mktemp("page")
    runs = [with_names(copytree(whole_run, folder / name), NAMES) for name in (HOSTILE_RUN, "_second")]
    return write_report(runs, folder / "page.html").read_text(encoding="utf-8")


def test_no_element_and_no_attribute_comes_out_of_a_name(page: str) -> None:
    found = Elements(page)

    assert found.elements - ELEMENTS == set()
    assert found.attributes - ATTRIBUTES == set()
    assert found.open == []


def test_no_link_leads_out_of_the_page(page: str) -> None:
    links = re.findall(r"<a\b[^>]*>", page)

    assert links
    assert [link for link in links if not re.fullmatch(r'<a href="#[a-z0-9-]+">', link)] == []


def test_every_name_can_be_read_in_full(page: str) -> None:
    text = Elements(page).text

    assert [name for name in NAMES if legible(name) not in text] == []
    assert legible(HOSTILE_RUN) in text


def test_every_figure_is_sound_xml(page: str) -> None:
    figures = [f"<svg {rest.partition('</svg>')[0]}</svg>" for rest in page.split("<svg ")[1:]]

    # Seven figures in two forms, and 14 frames.
    assert len(figures) == 28
    for figure in figures:
        ElementTree.fromstring(figure)


def test_names_are_not_taken_for_formulas_or_for_ids_in_figures(page: str) -> None:
    figures = [rest.partition("</svg>")[0] for rest in page.split("<svg class=")[1:]]

    for shown in ("$x_y$", r"$\frac{1}{", "5 $", ' id="text_1" &amp;amp; &amp;#60;'):
        assert any(f">{shown}</text>" in figure for figure in figures)


def test_no_browser_may_run_or_fetch_anything_for_the_page(page: str) -> None:
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    # Before anything that it should hold back.
    assert page.index(f'<meta http-equiv="Content-Security-Policy" content="{policy}">') < page.index("<title>")


def test_a_report_imports_nothing_that_a_run_names(
    a_run: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ran.py").write_text("raise SystemExit('it ran')")
    monkeypatch.syspath_prepend(tmp_path)
    run = a_run(strategy="ran:Strategy", detector="ran:Detector", benchmark="ran:Benchmark", scores={"ran:Metric": 1.0})
    (run / "config.yaml").write_text("strategy: {name: 'ran:Strategy'}\nevaluate: {metrics: ['ran:Metric']}\n")

    page = write_report([run], tmp_path / "page.html").read_text()
    assert "Strategy ran:Strategy" in page
    assert "ran:Metric" in page
    assert list_shipped()[0] in compute_metrics(find_metrics(list_shipped()), read_history(run))
