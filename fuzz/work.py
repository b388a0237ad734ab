"""Tries of one reader, each with a limit of time and memory. Those that go wrong are kept."""

from __future__ import annotations

import faulthandler
import gc
import hashlib
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.sharedctypes import SynchronizedArray
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Literal

from mutations import Files, mutate

from leocod.errors import LeocodError
from readers import READERS, Reader, make_seeds

SECONDS = 20
"""Seconds of computing in one try; more is a hang."""
STILL = 120
"""Seconds by the clock, for a try that waits and does not compute; more, because the machine may be busy."""
ADDRESSES = 8 << 30
"""Bytes that a process may map; torch alone takes almost half of them."""
MEMORY = 2 << 30
"""Bytes by which one try may make the process grow, even if a MemoryError is caught."""
LONGEST = 2000
"""Characters of a message without the path of its file; more is not one line."""

LONGEST_TRACEBACK = 20_000

TRIES, READ, REFUSED, CURRENT, STARTED, BEGUN = range(6)
"""Positions of the counters that a child shares with its parent; they survive the child."""


class Hang(BaseException):
    """The time is up. It is not an Exception, so that no reader takes it for damage in a file."""


@dataclass(frozen=True)
class Finding:
    """A promise that was broken."""

    key: str
    """What distinguishes it from others."""
    text: str


Outcome = Literal["read", "refused"] | Finding


def run_try(reader: Reader, files: Files, folder: Path) -> Outcome:
    """Write the files into an empty folder, and read them."""
    write(files, folder)
    outcome: Outcome = "read"
    try:
        with _limit_time():
            for act in reader.acts(folder):
                try:
                    act()
                except LeocodError as error:
                    outcome = "refused"
                    if wrong := _check_message(reader, error, folder):
                        return wrong
    except (Exception, Hang) as error:
        return Finding(_make_key(error), "".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:])
    return outcome


def generate_tries(reader: Reader, seeds: list[Files], seed: int, first: int = 0) -> Iterator[tuple[int, Files]]:
    """Yield damaged files without end. The number alone determines each."""
    number = first
    while True:
        random = Random(f"{seed} {reader.name} {number}")
        yield number, mutate(random.choice(seeds), random)
        number += 1


def work(name: str, seed: int, first: int, seconds: float, out: Path, counters: SynchronizedArray[int]) -> None:
    """Try one reader until the time is over, in a process of its own, which may not survive it."""
    reader = READERS[name]
    # Damaged files make libraries print without end. The report of a crash goes to a file.
    crash = (out / "crash.txt").open("w")
    faulthandler.enable(crash)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    with tempfile.TemporaryDirectory() as temporary:
        seeds = make_seeds(reader, Path(temporary))
    # The time for preparation does not count.
    counters[BEGUN] = counters[BEGUN] or int(time.time())
    for number, files in generate_tries(reader, seeds, seed, first):
        if time.time() > counters[BEGUN] + seconds:
            return
        counters[CURRENT], counters[STARTED] = number, int(time.time())
        before = _reset_peak_memory()
        outcome = run_try(reader, files, out / "current")
        grown = _read_peak_memory() - before
        if not isinstance(outcome, Finding) and grown > MEMORY:
            outcome = Finding(f"memory {name}", f"The process grew by {grown >> 20} MB.\n")
        counters[TRIES] += 1
        if isinstance(outcome, Finding):
            keep(outcome, number, out)
        else:
            counters[READ if outcome == "read" else REFUSED] += 1
        if number % 1000 == 999:
            gc.collect()


def write(files: Files, folder: Path) -> None:
    """Write the files to a folder that holds nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        elif isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)


def keep(finding: Finding, number: int, out: Path) -> None:
    """Keep the files and the traceback of a finding, once for each kind; count how often it came."""
    place = out / "findings" / hashlib.sha256(finding.key.encode("utf-8", "replace")).hexdigest()[:12]
    if not place.exists():
        shutil.copytree(out / "current", place / "files", symlinks=True)
        report = f"try {number}\n{finding.key}\n\n{finding.text}"
        (place / "traceback.txt").write_text(report, encoding="utf-8", errors="backslashreplace")
    with (place / "tries.txt").open("a") as file:
        file.write(f"{number}\n")


def _check_message(reader: Reader, error: LeocodError, folder: Path) -> Finding | None:
    text = str(error)
    plain = text.replace(str(folder), "")
    wrong = "not one printable line" if not text.isprintable() else ""
    wrong = wrong or ("too long" if len(plain) > LONGEST else "")
    wrong = wrong or ("names no file" if reader.names_file and str(folder) not in text else "")
    if not wrong:
        return None
    text = "".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:]
    return Finding(f"message {wrong}: {_make_key(error)}", text)


def _make_key(error: BaseException) -> str:
    """Make a key of the kind of error and the last places, ours if possible, that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "leocod" in frame.filename] or frames
    # A hang is in another place each time.
    last = [*ours[-2:], *([] if isinstance(error, Hang) else frames[-1:])]
    places = dict.fromkeys(f"{Path(frame.filename).name}:{frame.name}:{frame.lineno}" for frame in last)
    return f"{type(error).__name__} {' '.join(places)}"


@contextmanager
def _limit_time() -> Iterator[None]:
    def raise_hang(signal_number: int, frame: FrameType | None) -> Any:
        raise Hang(f"longer than {SECONDS} seconds of computing, or {STILL} in all")

    bells = {signal.SIGALRM: (signal.ITIMER_REAL, STILL), signal.SIGPROF: (signal.ITIMER_PROF, SECONDS)}
    before = {bell: signal.signal(bell, raise_hang) for bell in bells}
    for clock, seconds in bells.values():
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for clock, _ in bells.values():
            signal.setitimer(clock, 0)
        for bell, handler in before.items():
            signal.signal(bell, handler)


def _reset_peak_memory() -> int:
    """Reset the peak of memory; return the bytes in use now."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")
    return _read_peak_memory()


def _read_peak_memory() -> int:
    """Return the peak of memory since it was reset; 0 where the system does not say."""
    if sys.platform != "linux":
        return 0
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(peak[1]) << 10 if peak else 0
