"""What a step of Efficient-CLS+ costs, relative to one of Efficient-CLS: both in one run, step by step in turn.

    .venv/bin/python bench/plus_cost.py

The time of the learner alone. The first steps are learnt but not counted: memories must fill.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from harness import Spread, arguments, record, table

from leocod.run.config import load_config
from leocod.run.experiment import Experiment, build

STRATEGIES = ("icarl", "agem", "gdumb", "derpp")
LABELS = (16, 4, 2, 1)
PLUGINS = ("efficient_cls", "efficient_cls_plus")


def measure_ratio(strategy: str, labels: int, *, filling: int, rounds: int) -> Spread:
    """How many times as long a step of Efficient-CLS+ takes."""
    sides = {name: build_side(name, strategy, labels, steps=filling + rounds) for name in PLUGINS}
    seconds: dict[str, list[float]] = {name: [] for name in PLUGINS}
    for step in sides[PLUGINS[0]].stream.steps():
        for name, side in sides.items():
            began = time.perf_counter()
            side.learner.learn(step)
            seconds[name].append(time.perf_counter() - began)
    plain, plus = (Spread(tuple(seconds[name][filling:])) for name in PLUGINS)
    return plus.over(plain)


def build_side(plugin: str, strategy: str, labels: int, *, steps: int) -> Experiment:
    """A learner in the standard world, on a seed that no table uses."""
    layer: dict[str, Any] = {"benchmark": {"steps": steps}, "strategy": strategy, "seed": 100, "plugin": plugin}
    return build(load_config(None, [layer, {"labels": {"per_step": labels}}]))


def main() -> None:
    """See above."""
    options = arguments(__doc__, rounds=20, filling=20)
    torch.set_num_threads(options.threads)
    sizes = {"filling": options.filling, "rounds": options.rounds}
    ratios = {name: {labels: measure_ratio(name, labels, **sizes) for labels in LABELS} for name in STRATEGIES}
    rows = [[f"`{name}`", *(one.told() for one in by_labels.values())] for name, by_labels in ratios.items()]
    print(table(["", *(f"{labels} of 16" for labels in LABELS)], rows))
    kept = {name: {labels: one.kept() for labels, one in by_labels.items()} for name, by_labels in ratios.items()}
    record(options, {"ratios": kept, **sizes})


if __name__ == "__main__":
    main()
