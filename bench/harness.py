"""What the benchmarks share: sides measured in turn, medians and spreads, and a record of what was measured and how."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leocod.run.environment import describe_environment

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "bench"


@dataclass(frozen=True)
class Spread:
    """Numbers by their median, and the middle half of them."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def quarters(self) -> tuple[float, float]:
        """Where the middle half begins and ends."""
        if len(self.values) < 2:
            return self.median, self.median
        first, _, third = statistics.quantiles(self.values, n=4, method="inclusive")
        return first, third

    def told(self, unit: float = 1.0, digits: int = 2) -> str:
        """Median and middle half, in so many of the unit."""
        low, high = self.quarters
        return f"{self.median / unit:.{digits}f} ({low / unit:.{digits}f} to {high / unit:.{digits}f})"

    def kept(self) -> dict[str, float]:
        """For a file."""
        low, high = self.quarters
        return {"median": self.median, "first_quarter": low, "third_quarter": high, "count": len(self.values)}

    def over(self, other: Spread) -> Spread:
        """Their ratio, round by round: what slows the machine for a while slows both sides of a round."""
        return Spread(tuple(one / two for one, two in zip(self.values, other.values, strict=True)))


def in_turn(sides: Mapping[str, Callable[[], object]], *, rounds: int, warm_up: int = 1) -> dict[str, Spread]:
    """Seconds of each side. In every round each has its turn; the first rounds do not count."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(warm_up + rounds):
        for name, work in sides.items():
            began = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - began)
    return {name: Spread(tuple(taken[warm_up:])) for name, taken in seconds.items()}


def arguments(description: str | None, **defaults: int | str) -> argparse.Namespace:
    """The command line of a benchmark: where the figures go, threads, and options of its own."""
    name = Path(sys.argv[0]).stem
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS / f"{name}.json", help="where the figures go")
    for key, value in {"threads": 1, **defaults}.items():
        parser.add_argument(f"--{key.replace('_', '-')}", type=type(value), default=value, help=f"default: {value}")
    return parser.parse_args()


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """In Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def record(options: argparse.Namespace, content: Mapping[str, Any]) -> None:
    """Write the figures, and beside them what they were made with."""
    command = ["python", f"bench/{Path(sys.argv[0]).name}", *sys.argv[1:]]
    made_with = describe_environment(threads=options.threads, device="cpu", command=command)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({**content, "made_with": made_with}, indent=1) + "\n")
