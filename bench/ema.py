"""What it costs the slow learner to follow the fast one, against the least that it can cost, and the plain loop.

    .venv/bin/python bench/ema.py

The least: the same arithmetic in one pass over as many numbers that lie in one piece.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from harness import arguments, in_turn, record, table

from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions
from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.networks.base import BaseDetector

CLASSES = tuple(f"class {number}" for number in range(20))
KEEP = 0.99
NETWORKS: dict[str, Callable[[], BaseDetector]] = {
    "tiny": lambda: Tiny(CLASSES, TinyOptions(weights=None)),
    "mobilenet_v2-fpn": lambda: FasterRCNNDetector(
        CLASSES, FasterRCNNOptions(backbone="mobilenet_v2-fpn", weights=None)
    ),
    "resnet50-c4": lambda: FasterRCNNDetector(CLASSES, FasterRCNNOptions(backbone="resnet50-c4", weights=None)),
}


@torch.no_grad()
def plain_loop(slow: BaseDetector, fast: BaseDetector) -> None:
    """As it is mostly written."""
    theirs = fast.model.state_dict()
    for name, own in slow.model.state_dict().items():
        if own.is_floating_point():
            own.copy_(KEEP * own + (1 - KEEP) * theirs[name])
        else:
            own.copy_(theirs[name])


def main() -> None:
    """Three networks, three ways."""
    options = arguments(__doc__, rounds=40)
    torch.set_num_threads(options.threads)
    rows, content, ratios = [], {}, []
    for name, make in NETWORKS.items():
        fast = make()
        slow, looped = fast.clone(), fast.clone()
        state = [one for one in fast.model.state_dict().values() if one.is_floating_point()]
        numbers = sum(one.numel() for one in state)
        flat, target = torch.rand(numbers), torch.rand(numbers)
        taken = in_turn(
            {
                "follow": lambda: slow.follow(fast, keep=KEEP),  # noqa: B023 - called before the next turn of the loop
                "one pass": lambda: flat.lerp_(target, 1 - KEEP),  # noqa: B023
                "plain loop": lambda: plain_loop(looped, fast),  # noqa: B023
            },
            rounds=options.rounds,
            warm_up=3,
        )
        over = {other: taken["follow"].over(taken[other]) for other in ("one pass", "plain loop")}
        times = [one.told(1e-3) for one in taken.values()]
        rows.append([name, f"{numbers / 1e6:.1f}", len(state), *times, *(one.told() for one in over.values())])
        ratios.append(f"{over['one pass'].median:.2f} ({name})")
        content[name] = {
            "numbers": numbers,
            "tensors": len(state),
            "seconds": {side: one.kept() for side, one in taken.items()},
            **{f"follow / {other}": one.kept() for other, one in over.items()},
        }
    heads = ["network", "million numbers", "tensors", "follow, ms", "one pass, ms", "plain loop, ms"]
    print(table([*heads, "follow / one pass", "follow / plain loop"], rows))
    print(f"\nfollow / one pass: {', '.join(ratios)}")
    record(options, {"rounds": options.rounds, "keep": KEEP, **content})


if __name__ == "__main__":
    main()
