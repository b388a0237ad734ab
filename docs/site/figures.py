"""Figures of the pages: which are measured, and whether the results have them.

A comment before a paragraph, a list or a table says where its figures come from:

<!-- from results/bench/live.json: session | picture lag, s -->
    Every figure of the block is a value of the file, rounded as it is shown. After the colon, separated by `|`, stand
    keys or columns that the value lies under, `A & B` for both. Where the first cell of a row or the title of a column
    is such a key, too, only values under it count. These are worked out: `sum(A)`, `mean(A)`, `count(A)`, `low(A)`,
    `high(A)`, `share(A)` (each over their sum), and `A / B`, `A + B`, `A - B`, where B is one value. Several files are
    separated by commas, several sources by `;`. At last, `; given 10, 400` lists figures that were not measured.
<!-- given: the reason -->
    No figure of the block was measured.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add, sub, truediv
from pathlib import Path
from statistics import mean
from typing import Any

UNITS = {
    "%": (1, 100),
    "s": (1,),
    "ms": (1, 1e3),
    "µs": (1, 1e6),
    "minutes": (1, 1 / 60),
    "hours": (1, 1 / 3600),
    "MB": (1, 1e-6),
    "GB": (1, 1e-9),
    "M": (1, 1e-6),
    "TFLOP": (1, 1e-3),
    **dict.fromkeys(["GFLOP", "bytes", "frames a second", "point", "points", "px", "second", "seconds", "times"], (1,)),
}
"""What follows a figure, and by how much a value of the results may have to be multiplied."""

NUMBER = r"(?<![\w.,/#:-])[+−-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w,]*\d)"
UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
FIGURE = re.compile(rf"(?P<number>{NUMBER})(?:\s?(?P<unit>{UNIT})(?!\w))?(?!\w)")

NO_FIGURES = re.compile(
    r"`[^`]*`|\]\([^)]*\)|<!--.*?-->"  # code, targets of links, comments
    r"|\b\d+ [x×] \d+\b|\b\d+\.\d+\.\d+\b|Python 3\.\d+"  # sizes, versions
    r"|\b(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"  # commits
    r"|\b(?:Tables?|Figures?|decision|seeds?|step) S?\d+(?:(?:,| to| and) S?\d+)*",
    flags=re.DOTALL,
)
SHARES = {"100 %", "50 %", "25 %", "12.5 %", "6.25 %"}
"""How many frames are labelled: a setting of nearly every table."""

MARKER = re.compile(r"<!-- (?P<kind>from|given:) (?P<text>.*?) -->", flags=re.DOTALL)

Values = list[tuple[tuple[str, ...], float]]
"""Numbers of a file, each with the keys that it lies under."""

FUNCTIONS: dict[str, Callable[[list[float]], float]] = {"sum": sum, "mean": mean, "low": min, "high": max, "count": len}
SIGNS: dict[str, Callable[[float, float], float]] = {" / ": truediv, " + ": add, " - ": sub}


@dataclass(frozen=True)
class Figure:
    """A number as a page shows it."""

    text: str
    unit: str | None
    header: str = ""
    """The title of its column, which may have the unit."""
    row: str = ""
    """What the first cell of its row names."""

    @property
    def shown(self) -> str:
        """With its unit."""
        return f"{self.text} {self.unit}" if self.unit else self.text

    @property
    def value(self) -> float:
        return float(self.text.replace(",", "").replace("−", "-"))

    def equals(self, value: float) -> bool:
        """Whether a value, in some unit, is this figure when it is rounded to as many digits."""
        found = re.search(rf"(?:^|[\s(,])({UNIT})(?=[\s),]|$)", self.header)
        unit = self.unit or (found[1] if found else None)
        return any(self._rounds(scale * value) for scale in UNITS.get(unit or "", (1,)))

    def _rounds(self, value: float) -> bool:
        if "e" in self.text:
            return float(f"{value:.0e}") == self.value
        whole, _, decimals = self.text.partition(".")
        digits = len(decimals)
        # Of a large number, three digits may be shown: 2,480 for 2,479.
        if not decimals and (zeros := len(whole) - len(whole.rstrip("0"))) and "," in whole:
            digits = -min(zeros, len(whole.replace(",", "")) - 3)
        # A sign is shown where a difference is meant, and left out where the words say it.
        return any(abs(one - self.value) <= 0.5 * 10**-digits + 1e-9 for one in (value, abs(value)))


@dataclass(frozen=True)
class Block:
    """A paragraph or table of a page, and the comment before it."""

    text: str
    marker: str | None

    def list_figures(self) -> list[Figure]:
        """Every number in it that is not part of a name, a size or a version."""
        if not self.is_table:
            return list(_find_figures(self.text))
        head, _, *rows = (_split_row(line) for line in self.text.splitlines())
        return [
            figure
            for row in rows
            for title, cell in zip(head, row, strict=True)
            for figure in _find_figures(cell, title, row[0].split("`")[1] if row[0].startswith("`") else row[0])
        ]

    def list_measured(self) -> list[Figure]:
        """Figures that look like measurements: with a unit, or alone in a cell of a table."""
        if not self.is_table:
            return [figure for figure in self.list_figures() if figure.unit and figure.shown not in SHARES]
        cells = [cell.strip("* ") for line in self.text.splitlines()[2:] for cell in _split_row(line)]
        alone = [match for cell in cells if (match := FIGURE.match(NO_FIGURES.sub("", cell))) and cell not in SHARES]
        return [Figure(match["number"], match["unit"]) for match in alone]

    @property
    def is_table(self) -> bool:
        return self.text.startswith("|")


def read_blocks(page: Path) -> list[Block]:
    """The paragraphs and tables of a page, without its code."""
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    blocks: list[Block] = []
    marker = None
    for part in re.split(r"\n\s*\n|\n(?=- |\|(?<=\n\|).*\n\| ---)", text):
        found = MARKER.search(part)
        rest = re.sub(r"<!--.*?-->", "", part, flags=re.DOTALL).strip()
        marker = found[0] if found else marker
        # One comment is for all items of a list.
        if marker is None and blocks and rest.startswith("- ") and blocks[-1].text.startswith("- "):
            marker = blocks[-1].marker
        if rest:
            blocks.append(Block(rest, marker))
            marker = None
    return blocks


def list_unfounded(block: Block, root: Path) -> list[str]:
    """Figures of a block with a source that the source does not have."""
    match = MARKER.fullmatch(block.marker or "")
    if match is None or match["kind"] != "from":
        return []
    sources, _, given = match["text"].partition("; given ")
    known = SHARES | set(given.split(", "))
    values = [value for source in sources.split("; ") for value in _read_source(source, root)]
    return [
        figure.shown
        for figure in block.list_figures()
        if not {figure.text, figure.shown} & known and not any(figure.equals(one) for one in _narrow(figure, values))
    ]


def _narrow(figure: Figure, values: Values) -> list[float]:
    """The values that lie under what row and column are called, where some do."""
    for word in filter(None, (figure.row, figure.header)):
        values = [one for one in values if word in one[0]] or values
    return [value for _, value in values]


def _find_figures(text: str, header: str = "", row: str = "") -> Iterator[Figure]:
    for match in FIGURE.finditer(NO_FIGURES.sub(" ", text)):
        yield Figure(match["number"], match["unit"], header, row)


def _split_row(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _read_source(source: str, root: Path) -> Values:
    files, _, keys = source.partition(": ")
    values = [value for file in files.split(", ") for value in _read_values(root / file)]
    return [value for key in keys.split(" | ") for value in _evaluate(key, values)] if keys else values


def _evaluate(key: str, values: Values) -> Values:
    """The values under a key, or what is worked out from them."""
    if call := re.fullmatch(rf"({'|'.join(FUNCTIONS)}|share)\(([^()]*)\)", key):
        inner = _evaluate(call[2], values)
        if call[1] == "share":
            return [(path, value / sum(value for _, value in inner)) for path, value in inner]
        return [(tuple(call[2].split(" & ")), FUNCTIONS[call[1]]([value for _, value in inner]))]
    for sign, compute in SIGNS.items():
        if sign in key and not _select(key, values):
            first, *others = (_evaluate(side, values) for side in key.split(sign))
            return [(path, reduce(compute, [one, *(value for [(_, value)] in others)])) for path, one in first]
    if not (found := _select(key, values)):
        raise ValueError(f"no value under '{key}'")
    return found


def _select(key: str, values: Values) -> Values:
    wanted = set(key.split(" & "))
    return [(path, value) for path, value in values if wanted <= set(path)]


def _read_values(file: Path) -> Values:
    """Every number of a file, with the keys that it lies under."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        return list(_walk(json.loads(text), ()))
    if file.suffix == ".csv":
        return [value for row in csv.DictReader(io.StringIO(text)) for value in _walk(_parse(row), ())]
    rows = [_split_row(line) for line in text.splitlines() if line.startswith("|")]
    # What a claim rests on: which rows are compared, and by how much they differ.
    rows += [list(line) for line in re.findall(r"^  - (.+?): (.+)$", text, flags=re.MULTILINE)]
    return [((row[0],), figure.value) for row in rows for cell in row for figure in _find_figures(cell)]


def _parse(row: dict[str, str]) -> dict[str, Any]:
    """A row of a table with numbers for cells that are numbers."""
    number = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    return {name: float(cell) if number.fullmatch(cell or "") else cell for name, cell in row.items()}


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    """The words of a mapping count as keys of all that is in it: a list of rows names each row so."""
    if isinstance(value, dict):
        words = tuple(one for one in value.values() if isinstance(one, str))
        for key, inner in value.items():
            yield from _walk(inner, (*path, *words, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)
