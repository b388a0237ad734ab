"""Every figure of README and docs that was measured is in results/, as a comment beside it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from figures import list_unfounded, read_blocks

ROOT = Path(__file__).parents[2]
# A decision is a record of its time.
PAGES = [
    ROOT / "README.md",
    ROOT / "REPRODUCING.md",
    ROOT / "results" / "plus" / "tuning" / "README.md",
    ROOT / "results" / "second_edition" / "README.md",
    *sorted(page for page in ROOT.glob("docs/**/*.md") if page.parent.name != "decisions"),
]
CURE = "say where it comes from, <!-- from results/... -->, or why it needs no source, <!-- given: ... -->"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_measured_figure_has_a_source(page: Path) -> None:
    assert list_loose(page) == {}, CURE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_figure_with_a_source_is_there(page: Path) -> None:
    assert list_wrong(page, ROOT) == []


def list_loose(page: Path) -> dict[str, list[str]]:
    """Blocks without a comment, and their measured figures."""
    return {
        " ".join(block.text.split())[:60]: [figure.shown for figure in measured]
        for block in read_blocks(page)
        if block.marker is None and (measured := block.list_measured())
    }


def list_wrong(page: Path, root: Path) -> list[str]:
    return [figure for block in read_blocks(page) for figure in list_unfounded(block, root)]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page beside the results of some runs."""
    measured = {"step": {"median": 0.2464, "count": 20}, "frames a second": {"OAK": 2478.9}, "losses": [3.0, 1.0]}
    (tmp_path / "bench.json").write_text(json.dumps(measured))
    (tmp_path / "runs.csv").write_text("strategy,changed,seed,fap\nicarl,,0,52.57\nicarl,,1,56.07\newc,rate,0,25.79\n")
    claim = "- **holds**: Plus is better.\n  - plus over ecls: FAP +14.8 [+11.5, +18.1] (+13.0, +16.6) holds\n"
    (tmp_path / "table.md").write_text(f"| | FAP |\n| --- | --- |\n| plus | 71.8 |\n\n{claim}")
    return tmp_path / "page.md"


@pytest.mark.parametrize(
    "text",
    [
        "A step takes 0.25 s.",
        "It costs 3 %, or 1,126 MB.",
        "| | FAP |\n| --- | --- |\n| `icarl` | 54.3 |",
        "<!-- from bench.json -->\n\nFirst.\n\nThe second paragraph takes 0.25 s.",
    ],
)
def test_a_measured_figure_without_a_source_is_noticed(text: str, page: Path) -> None:
    page.write_text(text)

    assert list_loose(page) != {}


@pytest.mark.parametrize(
    "text",
    [
        "With 25 % of the labels, `keep=0.99` and Python 3.11 at 128 x 96, see [this](a/0.2 s).",
        "```\nstep 20: 0.25 s\n```",
        "<!-- given: settings -->\n\nIt waits 30 seconds.",
        "Four of five hold.",
    ],
)
def test_settings_names_and_code_need_no_source(text: str, page: Path) -> None:
    page.write_text(text)

    assert list_loose(page) == {}


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("from bench.json", "A step takes 0.246 s, or 246 ms, or 0.25 s."),
        ("from bench.json: step & median; given 10", "Of 10 steps the median is 0.2 s."),
        ("from bench.json: frames a second", "OAK has 2,480 frames a second."),
        ("from bench.json: share(losses) | sum(losses)", "75 % and 25 % of 4."),
        ("from runs.csv: mean(icarl & fap) | mean(icarl & fap) - mean(ewc & fap)", "54.3, and 28.5 more."),
        ("from runs.csv: fap", "| | FAP |\n| --- | --- |\n| `ewc` | 25.8 |"),
        ("from runs.csv: fap", "25.8, though a cell of other rows is empty."),
        ("from table.md", "Plus has 71.8, and is 14.8 [+11.5, +18.1] above the other one."),
        ("from table.md: plus over ecls", "It is 14.8 [+11.5, +18.1] above the other one."),
    ],
)
def test_figures_are_found_rounded_as_they_are_shown(marker: str, text: str, page: Path) -> None:
    page.write_text(f"<!-- {marker} -->\n\n{text}")

    assert list_wrong(page, page.parent) == []


@pytest.mark.parametrize(
    ("marker", "text", "wrong"),
    [
        ("from bench.json", "A step takes 0.247 s.", "0.247 s"),
        ("from bench.json: step & count", "A step takes 0.25 s.", "0.25 s"),
        ("from runs.csv: fap", "| | FAP |\n| --- | --- |\n| `ewc` | 52.6 |", "52.6"),
        ("from bench.json: frames a second", "OAK has 2,470.", "2,470"),
        ("from table.md: plus over ecls", "Plus is 71.8 above the other one.", "71.8"),
    ],
)
def test_a_figure_that_the_results_do_not_have_is_noticed(marker: str, text: str, wrong: str, page: Path) -> None:
    page.write_text(f"<!-- {marker} -->\n\n{text}")

    assert list_wrong(page, page.parent) == [wrong]


def test_a_comment_before_a_list_is_for_all_of_its_items(page: Path) -> None:
    page.write_text(
        "<!-- from bench.json: step & median -->\n\n- It takes 0.25 s.\n- It takes 0.26 s.\n\nIn all 0.27 s."
    )

    assert list_wrong(page, page.parent) == ["0.26 s"]
    assert list(list_loose(page).values()) == [["0.27 s"]]


def test_a_key_that_the_results_do_not_have_is_noticed(page: Path) -> None:
    page.write_text("<!-- from bench.json: stpe -->\n\nA step takes 0.25 s.")

    with pytest.raises(ValueError, match="no value under 'stpe'"):
        list_wrong(page, page.parent)
