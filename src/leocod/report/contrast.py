"""What tells two kinds of runs apart, in words: strategy, plug-in, labels, and options."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from leocod.report.kinds import Kind, read_settings
from leocod.settings import list_leaves
from leocod.text import describe_plugin, list_some, one_line, pluralize

MOST_NAMED = 3
"""Things that the name of a kind has besides that of its runs."""
LONGEST = 40
"""Characters of a value."""


def contrast(first: Kind, second: Kind) -> tuple[str, str]:
    """The names of two kinds, each with what the other one does not have."""
    facts = list(zip(_list_facts(first), _list_facts(second), strict=True))
    told = [section for (section, one), (_, other) in facts if one != other]
    leaves = [_list_options(kind, told) for kind in (first, second)]
    names = []
    for side, kind in enumerate((first, second)):
        words = [pair[side][1] for pair in facts if pair[0] != pair[1]]
        words += [f"{key}={value}" for key, value in leaves[side].items() if leaves[1 - side].get(key) != value]
        names.append(f"{kind.name} ({list_some(words, MOST_NAMED)})" if words else kind.name)
    return names[0], names[1]


def _list_facts(kind: Kind) -> Iterator[tuple[str, str]]:
    """What a kind is in the words of the tables, and the key of the config that says the same."""
    results = kind.first.results
    yield "strategy", results.strategy
    yield "efficient_cls", describe_plugin(ema=results.ema, pseudo_labels=results.pseudo_labels, plus=results.plus)
    labels = results.labels_per_step
    yield "labels.per_step", "another budget" if labels is None else f"{pluralize(labels, 'labelled frame')} a step"
    yield "detector", f"detector {results.detector}"


def _list_options(kind: Kind, told: list[str]) -> dict[str, str]:
    """Every option of a kind, without those that the facts have told."""
    settings = read_settings(kind.first)
    leaves = list_leaves(settings) if isinstance(settings, dict) else ()
    return {
        one_line(key, LONGEST): _show(value)
        for key, value in leaves
        if not any(key == section or key.startswith(f"{section}.") for section in told)
    }


def _show(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, default=str), LONGEST)
