"""Do rows that a table compares begin with the same weights? If not, their difference is partly that of the weights."""

from __future__ import annotations

from leocod.paper.outcome import Outcome, RowRuns, list_pairs


def warn_of_other_starts(outcome: Outcome) -> list[str]:
    """A warning that names the rows; nothing where all starts are the same, are not known, or differ on purpose."""
    differ = []
    for first, second in list_pairs(outcome.table):
        if seeds := _list_seeds_that_differ(outcome.rows[first], outcome.rows[second]):
            differ.append(f"{first} and {second} (seed {', '.join(map(str, seeds))})")
    if not differ:
        return []
    return [
        "Warning: rows began with different weights, so a difference between them is not theirs alone: "
        f"{'; '.join(differ)}. Run them again from the same weights."
    ]


def _list_seeds_that_differ(first: RowRuns, second: RowRuns) -> list[int]:
    """The seeds with which two rows began with different weights."""
    # A row that chooses another detector, or other weights, means to.
    if first.row.set.get("detector") != second.row.set.get("detector"):
        return []
    common = first.records.keys() & second.records.keys()
    starts = {place: (first.records[place].start, second.records[place].start) for place in common}
    return sorted({seed for (seed, _), (one, other) in starts.items() if one and other and one != other})
