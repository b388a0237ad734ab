"""Does a row spend more than another one? A better figure counts only at the same price."""

from __future__ import annotations

from typing import NamedTuple

from leocod.paper.outcome import Outcome

SPENT = {
    "labelled_frames": "labels",
    "updates": "updates",
    "frames_trained_on": "frames trained on",
    "memory_bytes": "bytes kept",
}
"""What a run spends, by the name in its record, and the heading of each."""

HELP = "What the first row spends as a share of what the second spends, in the run where that is largest."

UNKNOWN = "–"


class BudgetLine(NamedTuple):
    """What a row spends beside another one."""

    first: str
    """Keys of the rows: those around different strategies may have one name."""
    second: str
    shares: list[str]
    """In the order of SPENT."""
    word: str


def compare_budgets(outcome: Outcome) -> list[BudgetLine]:
    """A line for each pair of rows that the table wants to cost the same."""
    return [_compare(outcome, *pair) for pair in outcome.table.budgets]


def _compare(outcome: Outcome, first: str, second: str) -> BudgetLine:
    shares = {name: _find_largest_share(outcome, first, second, name) for name in SPENT}
    more = [SPENT[name] for name, share in shares.items() if share is not None and share > 1]
    word = f"more {' and '.join(more)}" if more else "not known" if None in shares.values() else "no more"
    texts = [UNKNOWN if share is None else f"{100 * share:.1f} %" for share in shares.values()]
    return BudgetLine(first, second, texts, word)


def _find_largest_share(outcome: Outcome, first: str, second: str, name: str) -> float | None:
    """None where a run did not count, or where the rows have no run in common."""
    ours, theirs = outcome.rows[first].records, outcome.rows[second].records
    pairs = [(getattr(ours[place], name), getattr(theirs[place], name)) for place in ours if place in theirs]
    if not pairs or any(one is None for pair in pairs for one in pair):
        return None
    return max(1.0 if mine == other else mine / other if other else float("inf") for mine, other in pairs)
