"""Two versions of the code against each other: what a step of Efficient-CLS took before, and what it takes now.

    git worktree add /some/where 68172c7
    .venv/bin/python bench/versions.py --before /some/where

Each version has a process of its own, builds the learner of bench/step.py, and learns a step when it is its turn.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import IO, Any

from harness import RESULTS, ROOT, Spread, record, table

CASES = ("tiny", "mobilenet_v2-fpn", "resnet50-c4")
TINY_ROUNDS = 4
"""The tiny detector has so many rounds for one of the others: it is quick, and varies more."""


def learn(case: str, threads: int) -> None:
    """In the process of a version: a step for every line that comes."""
    import torch
    from cases import CASES, learner_of

    from leocod.run.environment import read_source_state

    learner, steps = learner_of(CASES[case])
    torch.set_num_threads(threads)
    print(json.dumps(read_source_state(Path(sys.modules["leocod"].__path__[0]))), flush=True)
    for _, step in zip(sys.stdin, cycle(steps), strict=False):
        began = time.perf_counter()
        learner.learn(step)
        print(time.perf_counter() - began, flush=True)


class Version:
    """A process that learns with the code of a checkout."""

    def __init__(self, checkout: Path, case: str, threads: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--learn", case, "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": str(threads)},
        )
        self.source: dict[str, Any] = json.loads(self._pipe(self.process.stdout).readline())

    def step(self) -> float:
        """Seconds of one."""
        asking = self._pipe(self.process.stdin)
        asking.write("\n")
        asking.flush()
        return float(self._pipe(self.process.stdout).readline())

    def end(self) -> None:
        """No more steps."""
        self._pipe(self.process.stdin).close()
        self.process.wait()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


def compared(case: str, before: Path, rounds: int, threads: int) -> tuple[dict[str, Spread], dict[str, Any]]:
    """Seconds of a step by each version, in turn; and what they are."""
    versions = {name: Version(place, case, threads) for name, place in (("before", before), ("now", ROOT))}
    seconds: dict[str, list[float]] = {name: [] for name in versions}
    # The first steps do not count.
    for number in range(rounds + 2):
        for name, version in versions.items():
            taken = version.step()
            if number > 1:
                seconds[name].append(taken)
    for version in versions.values():
        version.end()
    return {name: Spread(tuple(taken)) for name, taken in seconds.items()}, {n: v.source for n, v in versions.items()}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout of the older version")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--threads", type=int, default=1, help="default: 1")
    parser.add_argument("--out", type=Path, default=RESULTS / "versions.json", help="where the figures go")
    parser.add_argument("--learn", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn:
        learn(options.learn, options.threads)
        return
    if not options.before:
        parser.error("--before is missing: a checkout of the older version")
    rows, content = [], {}
    for case in CASES:
        rounds = options.rounds * (TINY_ROUNDS if case == "tiny" else 1)
        seconds, sources = compared(case, options.before.resolve(), rounds, options.threads)
        ratio = seconds["before"].over(seconds["now"])
        rows.append([f"`{case}`", *(one.told(digits=3) for one in seconds.values()), ratio.told()])
        content[case] = {"seconds": {name: one.kept() for name, one in seconds.items()}, "before / now": ratio.kept()}
        print(table(["detector", "before, s", "now, s", "before / now"], rows), flush=True)
    # Where the older checkout lies is nobody's business.
    sys.argv = [sys.argv[0], "--before", "<checkout>", "--threads", str(options.threads)]
    record(options, {"cases": content, "versions": sources})
    told = ", ".join(f"{case} {one['before / now']['median']:.2f}" for case, one in content.items())
    print(f"A step before over one now: {told}")


if __name__ == "__main__":
    main()
