"""What a step of Efficient-CLS costs, against its arithmetic and against the plain way to write it with torchvision.

    .venv/bin/python bench/step.py

The floor: forward, backward and Adam of the same network on the tensors and regions of a real step, and the slow
learner's forward pass: no resizing, no proposals to choose, no labels to match, nothing to check, no moving average.
What a step leaves out is left out there, too: gradients of proposals that nothing is learnt from, and the boxes of all
classes but an object's own, of which the floor has none at all.
The plain way is in bench/plain.py. All three take turns, in one process.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import cycle
from typing import Any, NamedTuple

import torch
from cases import CASES, Case, learner_of
from harness import Spread, arguments, in_turn, record, table
from plain import Plain, in_torchvisions_parts
from torch import Tensor

from leocod.detectors.faster_rcnn import build_faster_rcnn
from leocod.detectors.tiny import Tiny, build_tiny
from leocod.networks.two_stage import TwoStage
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.strategies.base_replay import ReplayStrategy
from leocod.types import Step


class Pass(NamedTuple):
    """What went through the network at once."""

    tensors: Tensor
    taught: list[bool]
    """Of which frames the proposals learn."""
    regions: list[Tensor]
    sizes: list[tuple[int, int]]


def passes_of(learner: EfficientCLS, step: Step) -> dict[str, list[Pass]]:
    """What the slow and the fast learner compute in a step, taken down while they do."""
    strategy = learner.strategy
    taken: dict[str, list[Pass]] = {}
    for name, network in (("slow", learner.slow), ("fast", strategy.detector)):
        assert isinstance(network, TwoStage)
        passes = taken.setdefault(name, [])
        network.prepare = _listening(network.prepare, lambda out, _, passes=passes: passes.append(out[0].tensors))  # type: ignore[method-assign]
        network.learn_proposals = _listening(  # type: ignore[method-assign]
            network.learn_proposals, lambda _, given, passes=passes: passes.append((passes.pop(), given[3]))
        )
        network.region_features = _listening(  # type: ignore[method-assign]
            network.region_features, lambda _, given, passes=passes: passes.append(_whole(passes.pop(), given))
        )
    learner.learn(step)
    for network in (learner.slow, strategy.detector):
        del network.prepare, network.learn_proposals, network.region_features  # type: ignore[attr-defined]
    return taken


def _whole(heard: Any, given: tuple[Any, ...]) -> Pass:
    """When predicting, there is nothing that proposals learn from."""
    tensors, taught = heard if isinstance(heard, tuple) else (heard, [False] * len(heard))
    return Pass(tensors, taught, given[1], given[2])


def _listening(method: Callable[..., Any], tell: Callable[..., object]) -> Callable[..., Any]:
    def listening(*given: Any) -> Any:
        out = method(*given)
        tell(out, given)
        return out

    return listening


class Floor:
    """The arithmetic of a step and nothing else."""

    def __init__(self, learner: EfficientCLS, passes: dict[str, list[Pass]]) -> None:
        network: Any = learner.strategy.detector
        self.fast, self.slow = copy.deepcopy(network.model).train(), copy.deepcopy(network.model).eval()
        weights = [one for one in self.fast.parameters() if one.requires_grad]
        self.optimizer = torch.optim.Adam(weights, lr=1e-12, fused=True)
        self.passes = passes

    def learn(self) -> None:
        """One step."""
        with torch.inference_mode():
            for one in self.passes["slow"]:
                forward(self.slow, one)
        for one in self.passes["fast"]:
            self.optimizer.zero_grad()
            torch.stack([out.mean() for out in forward(self.fast, one)]).sum().backward()
            self.optimizer.step()


def forward(model: Any, one: Pass) -> list[Tensor]:
    """Everything that the network has to say; boxes of regions only when predicting."""
    features = model.backbone(one.tensors)
    levels = {"0": features} if isinstance(features, Tensor) else features
    said: list[Tensor] = []
    for learn in (True, False):
        chosen = torch.tensor([taught == learn for taught in one.taught])
        if chosen.any():
            with torch.set_grad_enabled(torch.is_grad_enabled() and learn):
                scores, deltas = model.rpn.head([level if chosen.all() else level[chosen] for level in levels.values()])
            said += [*scores, *deltas] if learn else []
    heads = model.roi_heads
    seen = heads.box_head(heads.box_roi_pool(levels, one.regions, one.sizes))
    predictor = heads.box_predictor
    return [*said, *([predictor.cls_score(seen)] if model.training else predictor(seen))]


def plain_of(learner: EfficientCLS) -> Plain:
    """The same network, in torchvision's parts."""
    network: Any = learner.strategy.detector
    make = build_tiny if isinstance(network, Tiny) else build_faster_rcnn
    model = make(len(network.classes), network.options)
    model.load_state_dict(network.model.state_dict())
    return Plain(in_torchvisions_parts(model), learning_rate=network.learning_rate)


def measured(case: Case, rounds: int, threads: int) -> dict[str, Spread]:
    """Seconds of a step: ours, the floor's, the plain way's."""
    learner, steps = learner_of(case)
    # Building it has set the threads of its config.
    torch.set_num_threads(threads)
    strategy = learner.strategy
    assert isinstance(strategy, ReplayStrategy)
    floor = Floor(learner, passes_of(learner, steps[0]))
    plain = plain_of(learner)
    ours, theirs = cycle(steps), cycle(steps)
    return in_turn(
        {
            "leocod": lambda: learner.learn(next(ours)),
            "floor": floor.learn,
            "plain": lambda: plain.learn(next(theirs), strategy.sample_replay()),
        },
        rounds=max(1, rounds // case.rounds),
        warm_up=2 if case.rounds == 1 else 1,
    )


def main() -> None:
    """Measure, print, write."""
    options = arguments(__doc__, rounds=24, tiny_only=0, threads=2)
    rows, content = [], {}
    for name, case in CASES.items():
        if options.tiny_only and name != "tiny":
            continue
        seconds = measured(case, options.rounds, options.threads)
        over_floor, over_plain = seconds["leocod"].over(seconds["floor"]), seconds["plain"].over(seconds["leocod"])
        frames = f"{case.labelled} + {case.unlabelled} + {case.replayed}"
        times = [seconds[side].told(digits=3) for side in ("leocod", "floor", "plain")]
        rows.append([f"`{name}`", frames, *times, over_floor.told(), over_plain.told()])
        content[name] = {
            "frames": frames,
            "seconds": {side: spread.kept() for side, spread in seconds.items()},
            "leocod / floor": over_floor.kept(),
            "plain / leocod": over_plain.kept(),
        }
        print(table(["detector", "frames", "a step, s", "floor, s", "plain, s", "step / floor", "plain / step"], rows))
    record(options, {"cases": content})
    told = ", ".join(f"{name} {one['leocod / floor']['median']:.2f}" for name, one in content.items())
    print(f"A step over its floor: {told}")


if __name__ == "__main__":
    main()
