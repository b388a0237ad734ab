"""What a step of every strategy costs, relative to `incremental`: all in one run, step by step in turn.

    .venv/bin/python bench/strategy_cost.py --out bench/strategy_cost.json

One thread, processor time of the learner alone: neither making the stream nor evaluating counts. The first steps are
learnt but not counted: memories must be full, and the declared boundaries of `ewc` and `iod` passed.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from leocod.config import load_config
from leocod.environment import command_line, environment
from leocod.experiment import build
from leocod.find import names

COLUMNS = {
    "100 %, bare": {"labels": {"per_step": 16}, "efficient_cls": None},
    "100 %, with Efficient-CLS": {"labels": {"per_step": 16}},
    "25 %, bare": {"labels": {"per_step": 4}, "efficient_cls": None},
    "25 %, with Efficient-CLS": {"labels": {"per_step": 4}},
}


def measured(layer: dict[str, object], *, uncounted: int, counted: int, seed: int) -> dict[str, float]:
    """Strategy -> mean processor seconds a step."""
    strategies = [name for name in names("strategies") if name != "offline"]
    configs = {
        name: load_config(Path("configs/standard.yaml"), [layer, {"strategy": name, "seed": seed}])
        for name in strategies
    }
    experiments = {name: build(config) for name, config in configs.items()}
    stream = experiments["incremental"].stream
    seconds: dict[str, list[float]] = {name: [] for name in strategies}
    for step in stream.steps():
        for name, experiment in experiments.items():
            began = time.process_time()
            experiment.learner.learn(step)
            seconds[name].append(time.process_time() - began)
        if step.index + 1 == uncounted + counted:
            break
    # The mean and not the median: `iod` trains its warp layer every 20 steps only.
    return {name: float(np.mean(taken[uncounted:])) for name, taken in seconds.items()}


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uncounted", type=int, default=101)
    parser.add_argument("--counted", type=int, default=40)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    seconds = {
        title: measured(layer, uncounted=options.uncounted, counted=options.counted, seed=options.seed)
        for title, layer in COLUMNS.items()
    }
    unit = seconds["100 %, bare"]["incremental"]
    about = environment(threads=1, device="cpu", command=command_line())
    steps = {"seed": options.seed, "uncounted_steps": options.uncounted, "counted_steps": options.counted}
    options.out.write_text(json.dumps({"seconds_a_step": seconds, **steps, "environment": about}, indent=1) + "\n")
    print("| | " + " | ".join(COLUMNS) + " |")
    print("| --- " * (len(COLUMNS) + 1) + "|")
    for name in seconds["100 %, bare"]:
        print(f"| `{name}` | " + " | ".join(f"{seconds[title][name] / unit:.1f}" for title in COLUMNS) + " |")


if __name__ == "__main__":
    main()
