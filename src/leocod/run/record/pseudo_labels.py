"""How right the pseudo labels of a run were, added up from its events: all, by known and new class, and over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from leocod.evaluation.results import CheckCounts, Counts, PseudoLabelPeriod
from leocod.events import (
    Evaluated,
    Event,
    PseudoLabelAudit,
    PseudoLabelCheck,
    RunStarted,
    StepLearned,
)

NOTHING = PseudoLabelAudit(0, 0, 0, 0, {})


class PseudoLabelTally:
    """Adds up audits and checks. What an earlier version did not count is left out: half a sum is worse than none."""

    def __init__(self) -> None:
        self._audit: PseudoLabelAudit | None = None
        """Of all pseudo labels so far; None: there were none."""
        self._recent = NOTHING
        """Of those since the last evaluation."""
        self._periods: list[PseudoLabelPeriod] = []
        self._first_step = 0
        """Of the period that has begun."""
        self._check: PseudoLabelCheck | None = None
        self._groups: dict[str, frozenset[int]] = {}
        """Numbers of the classes that the starting weights know, and of the others; empty: nobody says."""
        self._lost: frozenset[str] = frozenset()
        """What cannot be told, because the run has gone on from a version that did not count it."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._groups = event.groups
        elif isinstance(event, StepLearned):
            if event.audit is not None:
                self._audit = PseudoLabelAudit.together([self._audit or NOTHING, event.audit])
                self._recent = PseudoLabelAudit.together([self._recent, event.audit])
            if (check := event.check) is not None:
                before = self._check or PseudoLabelCheck(0, 0)
                self._check = PseudoLabelCheck(before.labels + check.labels, before.right + check.right)
        elif isinstance(event, Evaluated) and event.step >= self._first_step:
            self._end_period(event.step)

    def sum_up(self) -> dict[str, Any]:
        """The entries of results.json."""
        audit = None if "audit" in self._lost else self._audit
        check = None if "check" in self._lost else self._check
        groups = {} if audit is None or "periods" in self._lost else self._divide(audit)
        return {
            "pseudo_label_counts": None if audit is None else Counts.of(audit),
            "pseudo_label_groups": groups,
            "pseudo_label_periods": list(self._periods) if groups else [],
            "pseudo_label_check": None if check is None else CheckCounts(**asdict(check)),
        }

    def _end_period(self, step: int) -> None:
        groups = self._divide(self._recent)
        if groups:
            period = PseudoLabelPeriod(
                first_step=self._first_step, last_step=step, all=Counts.of(self._recent), **groups
            )
            self._periods.append(period)
        self._recent, self._first_step = NOTHING, step + 1

    def _divide(self, audit: PseudoLabelAudit) -> dict[str, Counts]:
        """By known and new class; empty where nobody says what is known, or counted by class."""
        parts = {name: audit.select(classes) for name, classes in self._groups.items()}
        return {name: Counts.of(part) for name, part in parts.items() if part is not None}

    def state_dict(self) -> dict[str, Any]:
        """Everything that later sums depend on, in plain values."""
        state = {
            "audit": self._audit and _to_plain(self._audit),
            "check": self._check and asdict(self._check),
            "periods": {
                "ended": [period.model_dump() for period in self._periods],
                "first_step": self._first_step,
                "recent": _to_plain(self._recent),
            },
        }
        return {key: value for key, value in state.items() if key not in self._lost}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        """Continue from a state."""
        self._lost = frozenset({"audit", "check", "periods"} - set(state))
        self._audit = PseudoLabelAudit.from_plain(state["audit"]) if state.get("audit") else None
        self._check = PseudoLabelCheck(**state["check"]) if state.get("check") else None
        if "periods" in state:
            periods = state["periods"]
            self._periods = [PseudoLabelPeriod(**period) for period in periods["ended"]]
            self._first_step, self._recent = periods["first_step"], PseudoLabelAudit.from_plain(periods["recent"])


def _to_plain(audit: PseudoLabelAudit) -> dict[str, Any]:
    by_class = None if audit.by_class is None else {number: list(counts) for number, counts in audit.by_class.items()}
    return Counts.of(audit).model_dump() | {"by_class": by_class}
