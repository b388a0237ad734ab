"""Feeds damaged files to every reader, for as long as it is told. Findings are kept, and are an error.

    python fuzz/run.py --reader coco --minutes 1

A reader must read a file, or refuse it with a `LeocodError` of one line: nothing else may be raised, nothing may hang,
fill the memory or end the process. Try n of a reader with a seed is always the same.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from work import BEGUN, CURRENT, READ, REFUSED, STARTED, STILL, TRIES, Finding, keep, work

from readers import READERS

GRACE = 15
"""Seconds after which a try that has not rung its own bell, being inside a library, is ended from outside."""


@dataclass(frozen=True)
class Line:
    """What came of one reader."""

    reader: str
    tries: int
    seconds: int
    read: int
    refused: int
    findings: int
    """Kinds of them, not times."""

    def __str__(self) -> str:
        rate = self.tries / max(self.seconds, 1e-9)
        return f"{self.reader:22}{self.tries:9}{rate:9.1f}{self.read:9}{self.refused:9}{self.findings:9}"


def supervise(name: str, *, seed: int, minutes: float, out: Path) -> Line:
    """Try one reader for so long, in as many processes, one after the other, as it takes."""
    place = out / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    context = multiprocessing.get_context("forkserver")
    told = context.Array("q", 6)
    first = 0
    while not told[BEGUN] or time.time() < told[BEGUN] + 60 * minutes:
        told[CURRENT], told[STARTED] = first, int(time.time())
        child = context.Process(target=work, args=(name, seed, first, 60 * minutes, place, told))
        child.start()
        hangs = False
        while child.is_alive() and not hangs:
            child.join(1)
            hangs = bool(told[BEGUN]) and time.time() - told[STARTED] > STILL + GRACE
        if hangs:
            child.kill()
            child.join()
        if child.exitcode != 0:
            _keep_crash(place, name, told[CURRENT], "a hang inside a library" if hangs else f"exit {child.exitcode}")
            told[TRIES] += 1
        # Not even valid files could be made.
        if not told[BEGUN]:
            break
        first = told[CURRENT] + 1
    found = len(list((place / "findings").glob("*")))
    return Line(name, told[TRIES], round(time.time() - (told[BEGUN] or time.time())), told[READ], told[REFUSED], found)


def _keep_crash(place: Path, name: str, number: int, how: str) -> None:
    said = (place / "crash.txt").read_text(errors="replace") if (place / "crash.txt").is_file() else ""
    where = [line.strip() for line in said.splitlines() if "File" in line][:3]
    (place / "current").mkdir(exist_ok=True)
    keep(Finding(f"{how} {name} {' '.join(where)}", said), number, place)


def main() -> int:
    """Run, show the table, and say by the exit code whether anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", default="all", choices=["all", *READERS], help="which one; all by default")
    parser.add_argument("--minutes", type=float, default=1, help="for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="readers that are tried at a time")
    parser.add_argument("--out", type=Path, default=Path("fuzz_out"), help="where findings and figures go")
    asked = parser.parse_args()
    names = list(READERS) if asked.reader == "all" else [asked.reader]
    asked.out.mkdir(parents=True, exist_ok=True)
    # A server that has imported everything once gives every child a quick start.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    multiprocessing.get_context("forkserver").set_forkserver_preload(["work"])
    print(f"{'reader':22}{'tries':>9}{'a second':>9}{'read':>9}{'refused':>9}{'findings':>9}", flush=True)
    lines = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        one = partial(supervise, seed=asked.seed, minutes=asked.minutes, out=asked.out)
        for line in pool.map(one, names):
            print(line, flush=True)
            lines.append(line)
            figures = {"seed": asked.seed, "minutes": asked.minutes, "readers": [asdict(line) for line in lines]}
            (asked.out / "fuzz.json").write_text(json.dumps(figures, indent=2) + "\n")
    for file in sorted(asked.out.glob("*/findings/*/traceback.txt")):
        if file.parents[2].name in names:
            print(f"{file.parent}: {file.read_text(encoding='utf-8').splitlines()[1][:200]}")
    return int(any(line.findings for line in lines))


if __name__ == "__main__":
    sys.exit(main())
