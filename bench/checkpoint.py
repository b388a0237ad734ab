"""What a checkpoint every 10 steps costs, against the steps themselves: one run, the two timed in turn.

    .venv/bin/python bench/checkpoint.py

Everything of a checkpoint counts: the snapshot, the file, its checksum, and waiting for the disk. Of a step only the
learning does: what arrives is there already.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import arguments, in_turn, record, table

from leocod.events import RunStarted, StepArrived, StepFinished, StepLearned
from leocod.run.config import load_config
from leocod.run.experiment import build
from leocod.run.layers import parse_override
from leocod.run.record.checkpoints import Checkpoints
from leocod.run.record.labels import LabelRecord


def main() -> None:
    """Time both, in turn, and tell."""
    # The first steps, in which the memory fills, do not count.
    options = arguments(__doc__, rounds=20, every=10, filling=60)
    needed = options.filling + (options.rounds + 1) * options.every
    changes = [parse_override(f"threads={options.threads}"), parse_override(f"benchmark.steps={needed}")]
    experiment = build(load_config(Path("standard.yaml"), changes))
    learner, steps = experiment.learner, experiment.stream.steps()
    for step in islice(steps, options.filling):
        learner.learn(step)
    arrived = [list(islice(steps, options.every)) for _ in range(options.rounds + 1)]
    to_learn = iter(arrived)
    # Not where temporary files go, which may be in memory.
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        config = experiment.config.model_dump(mode="json")
        sinks = {"labels": LabelRecord(Path(folder) / "labels.json", experiment.labeller.describe())}
        sink = Checkpoints(Path(folder), learner, sinks, every=options.every, keep=2, config=config)
        sink(RunStarted("bench", experiment.benchmark.classes, experiment.benchmark.steps, 0))

        def learn() -> None:
            for step in next(to_learn):
                sink(StepArrived(step.index))
                losses = learner.learn(step).losses
                sink(StepLearned(step.index, losses, (), (), (), None, 0, {}))

        finished = (group[-1].index for group in arrived)

        def save() -> None:
            sink(StepFinished(next(finished)))
            sink.save()

        taken = in_turn({"steps": learn, "checkpoint": save}, rounds=options.rounds)
        size = max(file.stat().st_size for file in Path(folder).iterdir())
    ratio = taken["checkpoint"].over(taken["steps"])
    memory = learner.memory
    names = {"steps": f"{options.every} steps", "checkpoint": "a checkpoint"}
    print(table(["", "ms"], [[names[side], spread.told(1e-3, 1)] for side, spread in taken.items()]))
    print(f"\ncheckpoint / {options.every} steps: {ratio.told(digits=4)}")
    content = {
        "rounds": options.rounds,
        "steps in a round": options.every,
        "seconds": {side: spread.kept() for side, spread in taken.items()},
        "checkpoint / steps": ratio.kept(),
        "file, bytes": size,
        "memory": {"frames": len(memory), "bytes": memory.bytes} if memory is not None else None,
    }
    record(options, content)


if __name__ == "__main__":
    main()
