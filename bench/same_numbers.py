"""Two versions of the code compared to the last bit: results and weights of 20 steps of every strategy.

    git worktree add /some/where a9415f2
    .venv/bin/python bench/same_numbers.py --before /some/where

Each strategy runs bare and wrapped, in a process of its own, once with each version. A run that exists is not repeated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from harness import ROOT

STRATEGIES = {
    "incremental": [],
    "offline": [],
    # Boundaries that lie within 20 steps.
    "ewc": ["strategy.boundary_every=6"],
    "iod": ["strategy.boundary_every=6", "strategy.warp_every=5"],
    "icarl_wang": [],
    "icarl": [],
    "agem": [],
    "gdumb": [],
    "derpp": [],
}


STREAM = ("--steps", "20", "--evaluate-every", "7", "--threads", "1")


def learn(checkout: Path, strategy: str, *, wrapped: bool, out: Path) -> None:
    """20 steps with the code of a checkout."""
    if (out / "report.html").exists():
        return
    settings = [text for setting in STRATEGIES[strategy] for text in ("--set", setting)]
    plugin = "--efficient-cls" if wrapped else "--no-efficient-cls"
    subprocess.run(
        [sys.executable, "-m", "leocod", "run", "--strategy", strategy, plugin, *STREAM, *settings, "--out", str(out)],
        env=os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def figures(run: Path) -> dict[str, Any]:
    """What must not change: every figure of results.json, and digests of the weights and of the memory."""
    results = json.loads((run / "results.json").read_text())
    checkpoint = torch.load(run / "checkpoints" / "step_00019.pt", map_location="cpu", weights_only=True)
    learner = checkpoint["learner"]
    strategy = learner.get("strategy", learner)
    scores = results.get("scores", results)
    names = {"fap": "fap", "cap": "cap", "forgetting": "forgetfulness"}
    return {
        **{old: scores[new] if new in scores else scores[old] for new, old in names.items()},
        "evaluations": [
            [one["step"], *(one.get("ap_by_class") or one["ap50_by_class"]).values()] for one in results["evaluations"]
        ],
        "labelled_frames": results["labelled_frames"],
        "memory_bytes": results["memory_bytes"],
        "fast": digest(strategy["detector"]["weights"]),
        "slow": digest(learner["slow"]["weights"]) if "slow" in learner else None,
        "optimizer": digest(strategy["optimizer"]["state"]),
        "memory": digest([one["pixels"] for one in strategy["memory"]["frames"]]) if strategy["memory"] else None,
    }


def digest(value: Any) -> str:
    """Tells two states apart, to the bit."""
    hashed = hashlib.sha256()
    for piece in pieces(value):
        hashed.update(piece)
    return hashed.hexdigest()[:16]


def pieces(value: Any) -> Iterator[bytes]:
    """A state as bytes."""
    if isinstance(value, torch.Tensor):
        yield value.contiguous().view(-1).view(torch.uint8).numpy().tobytes()
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield str(key).encode()
            yield from pieces(value[key])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from pieces(one)
    else:
        yield repr(value).encode()


def main() -> None:
    """Run, compare, print; exit 1 at the first difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the older version")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "same_numbers", help="where the runs go")
    parser.add_argument("--only-before", action="store_true", help="run the older version and stop")
    options = parser.parse_args()
    differences = 0
    for strategy in STRATEGIES:
        for wrapped in (False, True):
            name = f"{strategy}{'+ecls' if wrapped else ''}"
            learn(options.before.resolve(), strategy, wrapped=wrapped, out=options.out / "before" / name)
            if options.only_before:
                continue
            learn(ROOT, strategy, wrapped=wrapped, out=options.out / "now" / name)
            before, now = (figures(options.out / side / name) for side in ("before", "now"))
            changed = [key for key in before if before[key] != now[key]]
            differences += bool(changed)
            print(
                f"{name:<20} {'DIFFERS: ' + ', '.join(changed) if changed else 'identical'}  {now['fast']}", flush=True
            )
    if not options.only_before:
        print(f"{2 * len(STRATEGIES)} pairs of runs, {differences} differ")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
