"""What a step of every strategy costs, relative to `incremental`: all in one run, step by step in turn.

    .venv/bin/python bench/strategy_cost.py --out results/bench/strategy_cost.json

One thread, processor time of the learner alone: neither making the stream nor evaluating counts. The first steps are
learnt but not counted: memories must fill, and the declared boundaries of `ewc` and `iod`, here every 20 steps, pass.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from leocod.run.config import ExperimentConfig, load_config
from leocod.run.environment import describe_environment, read_command_line
from leocod.run.experiment import build
from leocod.strategies.base import STRATEGIES

BOUNDARY = 20
COLUMNS = {
    "100 %, bare": {"labels": {"per_step": 16}, "efficient_cls": None},
    "100 %, with Efficient-CLS": {"labels": {"per_step": 16}},
    "25 %, bare": {"labels": {"per_step": 4}, "efficient_cls": None},
    "25 %, with Efficient-CLS": {"labels": {"per_step": 4}},
}


def measured(layer: dict[str, object], *, uncounted: int, counted: int, seed: int) -> dict[str, float]:
    """Strategy -> mean processor seconds a step."""
    strategies = [name for name in STRATEGIES.names() if name != "offline"]
    experiments = {name: build(config(name, layer, seed)) for name in strategies}
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


def config(name: str, layer: dict[str, object], seed: int) -> ExperimentConfig:
    """The standard world with a strategy, whose boundaries, if it has any, come early."""
    options = {"boundary_every": BOUNDARY} if "boundary_every" in STRATEGIES.find(name).Options.model_fields else {}
    return load_config(Path("standard.yaml"), [layer, {"strategy": {"name": name, **options}, "seed": seed}])


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uncounted", type=int, default=41)
    parser.add_argument("--counted", type=int, default=20)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    seconds = {
        title: measured(layer, uncounted=options.uncounted, counted=options.counted, seed=options.seed)
        for title, layer in COLUMNS.items()
    }
    unit = seconds["100 %, bare"]["incremental"]
    everything = describe_environment(threads=1, device="cpu", command=read_command_line())
    about = {key: everything[key] for key in ("leocod", "python", "torch", "cpus", "threads", "source")}
    steps = {"seed": options.seed, "uncounted_steps": options.uncounted, "counted_steps": options.counted}
    options.out.write_text(json.dumps({"seconds_a_step": seconds, **steps, "made_with": about}, indent=1) + "\n")
    print("| | " + " | ".join(COLUMNS) + " |")
    print("| --- " * (len(COLUMNS) + 1) + "|")
    for name in seconds["100 %, bare"]:
        print(f"| `{name}` | " + " | ".join(f"{seconds[title][name] / unit:.1f}" for title in COLUMNS) + " |")


if __name__ == "__main__":
    main()
