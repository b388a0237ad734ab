"""What one frame costs each detector on a CPU: memory and processor time, to learn from it and to look at it.

    .venv/bin/python bench/detector_cost.py

Each detector has a process of its own and one thread; memory is the highest that it took beyond what it had with the
network built. Frames are 16:9, everything else is at its default. Writes results/bench/detector_cost.json.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from harness import RESULTS

from leocod.detectors.base import DETECTORS
from leocod.run.environment import read_source_state
from leocod.types import Labels

CLASSES = ("person", "car", "chair", "mug", "book", "lamp")
CASES = (
    ("faster_rcnn", {"backbone": "resnet50-c4"}),
    ("faster_rcnn", {"backbone": "resnet50-c4", "regions": 64}),
    ("faster_rcnn", {"backbone": "resnet50-fpn"}),
    ("faster_rcnn", {"backbone": "resnet18-fpn"}),
    ("faster_rcnn", {"backbone": "mobilenet_v2-fpn"}),
    ("faster_rcnn", {"backbone": "mobilenet_v3-320-fpn"}),
    ("retinanet", {"backbone": "resnet50-fpn"}),
    ("retinanet", {"backbone": "resnet18-fpn"}),
    ("retinanet", {"backbone": "mobilenet_v2-fpn"}),
)


def highest() -> float:
    """Memory that this process has had at most, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measured(name: str, settings: dict[str, object], *, learn: bool) -> dict[str, float]:
    """One pass over one frame, in this process."""
    torch.set_num_threads(1)
    kind = DETECTORS.find(name)
    detector = kind(CLASSES, kind.Options.model_validate(settings))
    image = np.random.default_rng(0).integers(0, 255, (720, 1280, 3), dtype=np.uint8)
    labels = Labels([[100, 100, 400, 500], [700, 200, 900, 600]], [0, 3])
    before, began = highest(), time.process_time()
    if learn:
        torch.stack([value.sum() for value in detector.loss([image], [labels]).values()]).sum().backward()
    else:
        detector.predict([image])
    return {"GB": highest() - before, "CPU-s": time.process_time() - began}


def main() -> None:
    """Without arguments: every case, each in a process of its own."""
    if len(sys.argv) > 1:
        number, learn = int(sys.argv[1]), sys.argv[2] == "learn"
        print(json.dumps(measured(*CASES[number], learn=learn)))
        return
    rows = []
    for number, (name, settings) in enumerate(CASES):
        row: dict[str, object] = {"detector": name, **settings}
        for what in ("learn", "predict"):
            done = subprocess.run([sys.executable, __file__, str(number), what], capture_output=True, check=True)
            row[what] = {key: round(value, 2) for key, value in json.loads(done.stdout).items()}
        rows.append(row)
        print(row, flush=True)
    content = {"source": read_source_state(Path(__file__).parents[1] / "src" / "leocod"), "rows": rows}
    (RESULTS / "detector_cost.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
