"""What else might make a step faster: measured beside the step as it is.

    .venv/bin/python bench/tried.py

The arithmetic of a step (see bench/step.py) in other forms: channels last in memory, bfloat16, compiled by torch;
and frames divided among threads. And the share of a step that a cache of the frozen part could save: its forward pass
over the replayed frames.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from cases import CASES, learner_of
from harness import arguments, in_turn, record, table
from step import Floor, Pass, passes_of
from torch import Tensor, nn

from leocod.training.batch import Batch


class InBfloat16(Floor):
    """With the products of matrices in half the digits."""

    def learn(self) -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            super().learn()


def channels_last(floor: Floor) -> Floor:
    """With the channels side by side in the weights, too; pixels come so, and what is made of them follows."""
    for model in (floor.fast, floor.slow):
        model.to(memory_format=torch.channels_last)
    floor.passes = {name: [_turned(one) for one in passes] for name, passes in floor.passes.items()}
    return floor


def _turned(one: Pass) -> Pass:
    return one._replace(tensors=one.tensors.contiguous(memory_format=torch.channels_last))


def compiled(floor: Floor) -> Floor:
    """With backbones that torch has compiled."""
    for model in (floor.fast, floor.slow):
        model.backbone = torch.compile(model.backbone)
    return floor


def frozen_part(backbone: Any) -> Callable[[Tensor], object]:
    """As far as nothing is learnt."""
    children = list((backbone.body if hasattr(backbone, "body") else backbone).children())
    learnt = [any(one.requires_grad for one in child.parameters()) for child in children]
    return nn.Sequential(*children[: learnt.index(True)])


def halves(learner: Any) -> dict[str, Callable[[], object]]:
    """Losses and gradients of the replayed frames: all at once, and half of them in each of two Python threads."""
    strategy = learner.strategy
    batch = Batch.mean_of("replay", strategy.sample_replay()).with_seeds(strategy.random)
    pool = ThreadPoolExecutor(2)

    def gradients(part: Batch) -> object:
        losses = part.mean(strategy.detector.loss(part.images, part.labels, part.seeds))
        return torch.autograd.grad(torch.stack(list(losses.values())).sum(), strategy.weights, allow_unused=True)

    def at_once() -> None:
        torch.set_num_threads(2)
        gradients(batch)

    def side_by_side() -> None:
        torch.set_num_threads(1)
        list(pool.map(gradients, batch.parts(len(batch.pairs) // 2)))

    return {"replayed frames, 2 threads inside": at_once, "replayed frames, 2 threads of frames": side_by_side}


def main() -> None:
    """Measure, print, write."""
    options = arguments(__doc__, rounds=12, tiny_only=0, compile=1)
    rows, content = [], {}
    for name, case in CASES.items():
        if options.tiny_only and name != "tiny":
            continue
        learner, steps = learner_of(case)
        torch.set_num_threads(options.threads)
        passes = passes_of(learner, steps[0])
        floor = Floor(learner, passes)
        sides: dict[str, Callable[[], object]] = {
            "as it is": floor.learn,
            "weights channels last": channels_last(Floor(learner, passes)).learn,
            "bfloat16": InBfloat16(learner, passes).learn,
        }
        began = time.perf_counter()
        if options.compile:
            sides["compiled"] = compiled(Floor(learner, passes)).learn
            sides["compiled"]()
        waited = time.perf_counter() - began
        stem, replayed = frozen_part(floor.fast.backbone), passes["fast"][-1].tensors

        def frozen(stem: Callable[[Tensor], object] = stem, replayed: Tensor = replayed) -> None:
            with torch.no_grad():
                stem(replayed)

        sides["frozen part of replayed frames"] = frozen
        sides["a whole step"] = lambda learner=learner, step=steps[0]: learner.learn(step)
        seconds = in_turn(sides, rounds=max(1, options.rounds // case.rounds))
        plain = seconds["as it is"]
        shares = {side: one.over(plain) for side, one in seconds.items() if side not in ("as it is", "a whole step")}
        shares["frozen part of replayed frames"] = seconds["frozen part of replayed frames"].over(
            seconds["a whole step"]
        )
        rows.append(
            [f"`{name}`", plain.told(digits=3), *(shares[side].told() if side in shares else "-" for side in SIDES)]
        )
        content[name] = {
            "seconds": {side: spread.kept() for side, spread in seconds.items()},
            "over the arithmetic as it is; the frozen part over a whole step": {k: v.kept() for k, v in shares.items()},
            "seconds to compile and learn once": waited if options.compile else None,
        }
        print(table(["detector", "arithmetic, s", *SIDES], rows))
    learner, steps = learner_of(CASES["tiny"])
    learner.learn(steps[0])
    split = in_turn(halves(learner), rounds=options.rounds)
    one, other = split.values()
    print(f"\nFrames in two threads over two threads inside every operation (`tiny`): {other.over(one).told()}")
    record(options, {"cases": content, "two threads": {name: spread.kept() for name, spread in split.items()}})
    frozen_shares = [one["over the arithmetic as it is; the frozen part over a whole step"] for one in content.values()]
    told = ", ".join(f"{one['frozen part of replayed frames']['median']:.3f}" for one in frozen_shares)
    print(f"The frozen part of replayed frames over a whole step: {told}")


SIDES = ("weights channels last", "bfloat16", "compiled", "frozen part of replayed frames")

if __name__ == "__main__":
    main()
