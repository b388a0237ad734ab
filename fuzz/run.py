"""Feed damaged files to every reader for a given time. Findings are kept, and are an error.

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
"""Seconds after which a try that does not end by itself, because it is inside a library, is ended from outside."""


@dataclass(frozen=True)
class Line:
    """The result of one reader."""

    reader: str
    tries: int
    seconds: int
    read: int
    refused: int
    findings: int
    """Number of kinds, not of times."""

    def __str__(self) -> str:
        rate = self.tries / max(self.seconds, 1e-9)
        return f"{self.reader:22}{self.tries:9}{rate:9.1f}{self.read:9}{self.refused:9}{self.findings:9}"


def supervise(name: str, *, seed: int, minutes: float, out: Path) -> Line:
    """Try one reader for so long, in one process after the other: a damaged file may end one."""
    place = out / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    context = multiprocessing.get_context("forkserver")
    counters = context.Array("q", 6)
    first = 0
    while not counters[BEGUN] or time.time() < counters[BEGUN] + 60 * minutes:
        counters[CURRENT], counters[STARTED] = first, int(time.time())
        child = context.Process(target=work, args=(name, seed, first, 60 * minutes, place, counters))
        child.start()
        hangs = False
        while child.is_alive() and not hangs:
            child.join(1)
            hangs = bool(counters[BEGUN]) and time.time() - counters[STARTED] > STILL + GRACE
        if hangs:
            child.kill()
            child.join()
        if child.exitcode != 0:
            how = "a hang inside a library" if hangs else f"exit {child.exitcode}"
            _keep_crash(place, name, counters[CURRENT], how)
            counters[TRIES] += 1
        # Not even valid files could be made.
        if not counters[BEGUN]:
            break
        first = counters[CURRENT] + 1
    findings = len(list((place / "findings").glob("*")))
    seconds = round(time.time() - (counters[BEGUN] or time.time()))
    return Line(name, counters[TRIES], seconds, counters[READ], counters[REFUSED], findings)


def _keep_crash(place: Path, name: str, number: int, how: str) -> None:
    report = (place / "crash.txt").read_text(errors="replace") if (place / "crash.txt").is_file() else ""
    where = [line.strip() for line in report.splitlines() if "File" in line][:3]
    (place / "current").mkdir(exist_ok=True)
    keep(Finding(f"{how} {name} {' '.join(where)}", report), number, place)


def main() -> int:
    """Run, print the table, and return whether anything was found as the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", default="all", choices=["all", *READERS], help="which one; all by default")
    parser.add_argument("--minutes", type=float, default=1, help="for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="readers that are tried at a time")
    parser.add_argument("--out", type=Path, default=Path("fuzz_out"), help="where findings and figures go")
    options = parser.parse_args()
    names = list(READERS) if options.reader == "all" else [options.reader]
    options.out.mkdir(parents=True, exist_ok=True)
    # A server that has imported everything once gives every child a quick start.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    multiprocessing.get_context("forkserver").set_forkserver_preload(["work"])
    print(f"{'reader':22}{'tries':>9}{'a second':>9}{'read':>9}{'refused':>9}{'findings':>9}", flush=True)
    lines = []
    with ThreadPoolExecutor(options.jobs) as pool:
        run_reader = partial(supervise, seed=options.seed, minutes=options.minutes, out=options.out)
        for line in pool.map(run_reader, names):
            print(line, flush=True)
            lines.append(line)
            figures = {"seed": options.seed, "minutes": options.minutes, "readers": [asdict(line) for line in lines]}
            (options.out / "fuzz.json").write_text(json.dumps(figures, indent=2) + "\n")
    for file in sorted(options.out.glob("*/findings/*/traceback.txt")):
        if file.parents[2].name in names:
            print(f"{file.parent}: {file.read_text(encoding='utf-8').splitlines()[1][:200]}")
    return int(any(line.findings for line in lines))


if __name__ == "__main__":
    sys.exit(main())
