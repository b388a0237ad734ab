"""Where the time of a step goes: the tiny detector, Efficient-CLS around iCaRL, 4 + 12 + 16 frames.

    .venv/bin/python bench/parts.py

By part of the program, from the inside out (a part's time is without that of the parts that it calls), and by torch's
own operations, with a trace of one step for chrome://tracing or ui.perfetto.dev beside the figures.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from cases import CASES, learner_of
from harness import arguments, record, table
from torch.profiler import ProfilerActivity, profile

import leocod.networks.proposals as proposals
import leocod.networks.regions as regions
import leocod.networks.two_stage as two_stage
import leocod.plugins.efficient_cls as efficient_cls
import leocod.strategies.base as base
import leocod.strategies.base_replay as base_replay
from leocod.networks.targets import TrainingTargets
from leocod.networks.torchvision_detector import TorchvisionDetector

PARTS: dict[str, tuple[tuple[Any, str], ...]] = {
    "backbone": ((TorchvisionDetector, "features"),),
    "proposal head": ((two_stage.TwoStage, "rpn_outputs"),),
    "RoIAlign and region head": ((two_stage.TwoStage, "region_features"),),
    "backward": ((torch.Tensor, "backward"),),
    "Adam": ((torch.optim.Adam, "step"),),
    "choosing proposals": ((two_stage.TwoStage, "propose"),),
    "matching and drawing": (
        *((module, name) for module in (proposals, regions) for name in ("match", "sample")),
        (TrainingTargets, "random_scores"),
    ),
    "losses": (
        (two_stage.TwoStage, "loss"),
        (two_stage.TwoStage, "learn_proposals"),
        (two_stage.TwoStage, "_proposal_losses"),
        (two_stage.TwoStage, "_region_losses"),
    ),
    "pixels to tensors": ((TorchvisionDetector, "prepare"),),
    "pseudo labels": ((two_stage.TwoStage, "detect"), (efficient_cls.EfficientCLS, "pseudo_label")),
    "augmentation": ((efficient_cls, "augment"),),
    "slow learner follows": ((efficient_cls.EfficientCLS, "consolidate"),),
    "memory": ((base_replay.MemoryStrategy, "remember"), (base_replay.ReplayStrategy, "sample_replay")),
    "to be able to go back": ((base.Strategy, "trained_state"),),
    "is it finite?": ((base, "refuse_gradient"), (base, "refuse_loss")),
    "the rest": ((efficient_cls.EfficientCLS, "learn"),),
}


class Clock:
    """Adds up the time of parts, each without that of the parts inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """To every part."""
        with ExitStack() as stack:
            for part, places in PARTS.items():
                for owner, name in places:
                    stack.enter_context(patch.object(owner, name, self._timed(part, getattr(owner, name))))
            yield

    def _timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            self._inside.append(0.0)
            began = time.perf_counter()
            try:
                return work(*given, **named)
            finally:
                taken = time.perf_counter() - began
                self.seconds[part] += taken - self._inside.pop()
                if self._inside:
                    self._inside[-1] += taken

        return timed


def main() -> None:
    """Measure, print, write."""
    options = arguments(__doc__, rounds=16)
    learner, steps = learner_of(CASES["tiny"])
    torch.set_num_threads(options.threads)
    for step in steps[:2]:
        learner.learn(step)
    clock = Clock()
    with clock.listening():
        for number in range(options.rounds):
            learner.learn(steps[number % len(steps)])
    whole = sum(clock.seconds.values())
    parts = {part: clock.seconds[part] / options.rounds for part in PARTS}
    told = [
        [part, f"{1e3 * taken:.1f}", f"{100 * taken * options.rounds / whole:.1f}"] for part, taken in parts.items()
    ]
    print(table(["part", "ms a step", "%"], told))
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        learner.learn(steps[0])
    operations = sorted(seen.key_averages(), key=lambda one: -one.self_cpu_time_total)[:12]
    by_name = {one.key: {"ms": one.self_cpu_time_total / 1e3, "calls": one.count} for one in operations}
    rows = [[f"`{name}`", f"{one['ms']:.1f}", one["calls"]] for name, one in by_name.items()]
    print("\n" + table(["operation", "ms", "calls"], rows))
    trace = options.out.with_name("step_trace.json.gz")
    trace.parent.mkdir(parents=True, exist_ok=True)
    seen.export_chrome_trace(str(trace))
    content = json.loads(gzip.decompress(trace.read_bytes()))
    # Where it was written is nobody's business.
    content.pop("traceName", None)
    trace.write_bytes(gzip.compress(json.dumps(content).encode(), mtime=0))
    record(options, {"seconds a step by part": parts, "operations of one step": by_name, "trace": Path(trace).name})
    arithmetic = ("backbone", "proposal head", "RoIAlign and region head", "backward", "Adam")
    print(f"\nA step over its arithmetic: {whole / options.rounds / sum(parts[part] for part in arithmetic):.2f}")


if __name__ == "__main__":
    main()
