"""A benchmark that a cell of is run in a second or two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.plan import Plan
from leocod.paper.table import Row, Table

BASE: dict[str, Any] = {
    "benchmark": {"name": "wander", "steps": 3, "frames_per_step": 4, "classes": 3, "places": 2},
    "detector": {"name": "tiny", "weights": None, "short_side": 48, "regions": 8, "proposals": 12},
    "evaluate": {"every": 2},
    "checkpoint": {"every": 1},
}

TABLE: dict[str, Any] = {
    "name": "small",
    "title": "A small table",
    "in_paper": "Table 0",
    "label": "tab:small",
    "seeds": [0, 1],
    "rows": [
        {"key": "bare", "name": "bare", "strategy": "incremental", "paper": {"oak": [8.38, 7.72, 0.03]}},
        {"key": "whole", "name": "with Efficient-CLS", "strategy": "incremental", "plug_in": "whole", "labels": 8}
        | {"over": "bare", "paper": {"oak": [9.0, 7.5, -1.0]}},
    ],
    "claims": [{"text": "It helps", "source": "Somewhere", "metrics": ["fap"], "better": [["whole", "bare"]]}],
}


@pytest.fixture
def base() -> dict[str, Any]:
    """Config of the small benchmark."""
    return BASE


@pytest.fixture
def table() -> Table:
    """Two rows, two seeds, one claim."""
    return Table.model_validate(TABLE)


@pytest.fixture
def plan(table: Table, tmp_path: Path) -> Plan:
    """The small table on the small benchmark."""
    return Plan([table], BASE, (), tmp_path / "paper")


@pytest.fixture
def own_table() -> Table:
    """The small table without a word of the paper."""
    rows = [{key: value for key, value in row.items() if key != "paper"} for row in TABLE["rows"]]
    claim = {"text": "It helps", "metrics": ["fap"], "better": [["whole", "bare"]]}
    about = {"name": "own", "title": "My table", "comparisons": [["whole", "bare"]], "claims": [claim]}
    return Table.model_validate({**about, "rows": rows})


@pytest.fixture
def outcome(table: Table) -> Outcome:
    """The plug-in gives 3 points of FAP, takes half a point of CAP, and forgets 2 points less."""

    def runs(row: Row, fap: float, cap: float, forgetting: float) -> RowRuns:
        scores = {(seed, None): {"fap": fap + seed, "cap": cap, "forgetting": forgetting} for seed in (0, 1)}
        return RowRuns(row, scores, 2)

    bare, whole = table.rows
    return Outcome(table, {"bare": runs(bare, 30.0, 20.0, 1.0), "whole": runs(whole, 33.0, 19.5, -1.0)})
