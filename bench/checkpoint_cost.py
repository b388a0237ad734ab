"""What a checkpoint every 10 steps costs, against the steps themselves: one run, the two timed in turn.

Everything of a checkpoint counts: the snapshot, the file, its checksum, and waiting for the disk.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median

from leocod.config import load_config, override
from leocod.environment import environment
from leocod.events import RunStarted, StepArrived, StepFinished, StepLearned
from leocod.experiment import build
from leocod.sinks.checkpoints import Checkpoints

EVERY = 10


def main() -> None:
    """Time both, in turn, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="of 10 steps and a checkpoint")
    parser.add_argument("--warm-up", type=int, default=60, help="steps before, in which the memory fills")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    standard = Path(__file__).parents[1] / "configs" / "standard.yaml"
    experiment = build(load_config(standard, [override("threads=1")]))
    learner, steps = experiment.learner, experiment.stream.steps()
    for step in islice(steps, options.warm_up):
        learner.learn(step)
    learning: list[float] = []
    saving: list[float] = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        config = experiment.config.model_dump(mode="json")
        sink = Checkpoints(Path(folder), learner, {"labels": experiment.labels}, every=EVERY, keep=2, config=config)
        sink(RunStarted("bench", experiment.benchmark.classes, experiment.benchmark.steps, 0))
        for _ in range(options.rounds):
            for step in islice(steps, EVERY):
                sink(StepArrived(step.index))
                began = time.perf_counter()
                learned = learner.learn(step)
                learning.append(time.perf_counter() - began)
                sink(StepLearned(step.index, learned.losses, (), (), (), None, 0, {}))
            began = time.perf_counter()
            sink(StepFinished(step.index))
            saving.append(time.perf_counter() - began)
        size = max(file.stat().st_size for file in Path(folder).iterdir())
    memory = learner.memory
    content = {
        "step, s": [round(one, 4) for one in (median(learning), min(learning), max(learning))],
        "checkpoint, s": [round(one, 4) for one in (median(saving), min(saving), max(saving))],
        "checkpoint / 10 steps": round(sum(saving) / sum(learning), 4),
        "of medians": round(median(saving) / (EVERY * median(learning)), 4),
        "file, MB": round(size / 1e6, 1),
        "memory": {"frames": len(memory), "MB": round(memory.bytes / 1e6, 1)} if memory is not None else None,
        "made_with": environment(
            threads=1, device="cpu", command=["python", "bench/checkpoint_cost.py", *sys.argv[1:]]
        ),
    }
    options.out.write_text(json.dumps(content, indent=1) + "\n")
    print(f"A step takes {median(learning):.3f} s, a checkpoint {median(saving):.3f} s.")
    print(f"Every {EVERY} steps it costs {100 * content['checkpoint / 10 steps']:.2f} % of the time of the steps.")


if __name__ == "__main__":
    main()
