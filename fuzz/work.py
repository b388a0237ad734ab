"""Tries of one reader, each with a limit of time and memory, and what is kept of those that go wrong."""

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

from mutations import Files, mutated

from leocod.errors import LeocodError
from readers import READERS, Reader, all_seeds

SECONDS = 20
"""Of computing in one try; more is a hang."""
STILL = 120
"""Seconds by the clock, which are more on a busy machine; somebody who waits for what never comes does not compute."""
ADDRESSES = 8 << 30
"""Bytes that a process may map: torch alone takes almost half of them."""
MEMORY = 2 << 30
"""Bytes by which one try may make the process grow, even if somebody catches what comes of it."""
LONGEST = 2000
"""Characters of a message, the path of its file left aside: more is not one line."""

LONGEST_TRACEBACK = 20_000

TRIES, READ, REFUSED, CURRENT, STARTED, BEGUN = range(6)
"""What a child tells its parent, number by number; it survives the child."""


class Hang(BaseException):
    """The time is up. No Exception, so that no reader takes it for something in its file."""


@dataclass(frozen=True)
class Finding:
    """A promise that was broken."""

    key: str
    """What tells it from other ones."""
    text: str


Outcome = Literal["read", "refused"] | Finding


def one_try(reader: Reader, files: Files, folder: Path) -> Outcome:
    """Write the files into an empty folder, read them, and see what comes of it."""
    write(files, folder)
    outcome: Outcome = "read"
    try:
        with _time_limit():
            for act in reader.acts(folder):
                try:
                    act()
                except LeocodError as error:
                    outcome = "refused"
                    if wrong := _wrong_message(reader, error, folder):
                        return wrong
    except (Exception, Hang) as error:
        return Finding(_key(error), "".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:])
    return outcome


def tries(reader: Reader, seeds: list[Files], seed: int, first: int = 0) -> Iterator[tuple[int, Files]]:
    """Damaged files without end, each known by its number alone."""
    number = first
    while True:
        random = Random(f"{seed} {reader.name} {number}")
        yield number, mutated(random.choice(seeds), random)
        number += 1


def work(name: str, seed: int, first: int, seconds: float, out: Path, told: SynchronizedArray[int]) -> None:
    """Try one reader until the time is over; runs in a process of its own, which may well not survive it."""
    reader = READERS[name]
    # Damaged files make libraries talk without end. What a crash says of itself goes to a file.
    crash = (out / "crash.txt").open("w")
    faulthandler.enable(crash)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    with tempfile.TemporaryDirectory() as temporary:
        seeds = all_seeds(reader, Path(temporary))
    # Getting ready is not trying.
    told[BEGUN] = told[BEGUN] or int(time.time())
    for number, files in tries(reader, seeds, seed, first):
        if time.time() > told[BEGUN] + seconds:
            return
        told[CURRENT], told[STARTED] = number, int(time.time())
        before = _start_of_memory()
        outcome = one_try(reader, files, out / "current")
        grown = _most_memory() - before
        if not isinstance(outcome, Finding) and grown > MEMORY:
            outcome = Finding(f"memory {name}", f"The process grew by {grown >> 20} MB.\n")
        told[TRIES] += 1
        if isinstance(outcome, Finding):
            keep(outcome, number, out)
        else:
            told[READ if outcome == "read" else REFUSED] += 1
        if number % 1000 == 999:
            gc.collect()


def write(files: Files, folder: Path) -> None:
    """The files, in a folder that holds nothing else."""
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
    """The files that showed it with what was said, once for each kind; how often it came is counted."""
    place = out / "findings" / hashlib.sha256(finding.key.encode("utf-8", "replace")).hexdigest()[:12]
    if not place.exists():
        shutil.copytree(out / "current", place / "files", symlinks=True)
        said = f"try {number}\n{finding.key}\n\n{finding.text}"
        (place / "traceback.txt").write_text(said, encoding="utf-8", errors="backslashreplace")
    with (place / "tries.txt").open("a") as file:
        file.write(f"{number}\n")


def _wrong_message(reader: Reader, error: LeocodError, folder: Path) -> Finding | None:
    text = str(error)
    plain = text.replace(str(folder), "")
    wrong = "not one printable line" if not text.isprintable() else ""
    wrong = wrong or ("too long" if len(plain) > LONGEST else "")
    wrong = wrong or ("names no file" if reader.names_file and str(folder) not in text else "")
    if not wrong:
        return None
    return Finding(f"message {wrong}: {_key(error)}", "".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:])


def _key(error: BaseException) -> str:
    """The kind of error and the last places of ours, or of anybody's, that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "leocod" in frame.filename] or frames
    # A hang is somewhere else each time.
    last = [*ours[-2:], *([] if isinstance(error, Hang) else frames[-1:])]
    places = dict.fromkeys(f"{Path(frame.filename).name}:{frame.name}:{frame.lineno}" for frame in last)
    return f"{type(error).__name__} {' '.join(places)}"


@contextmanager
def _time_limit() -> Iterator[None]:
    def ring(signal_number: int, frame: FrameType | None) -> Any:
        raise Hang(f"longer than {SECONDS} seconds of computing, or {STILL} in all")

    bells = {signal.SIGALRM: (signal.ITIMER_REAL, STILL), signal.SIGPROF: (signal.ITIMER_PROF, SECONDS)}
    before = {bell: signal.signal(bell, ring) for bell in bells}
    for clock, seconds in bells.values():
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for clock, _ in bells.values():
            signal.setitimer(clock, 0)
        for bell, handler in before.items():
            signal.signal(bell, handler)


def _start_of_memory() -> int:
    """Bytes held now; the most that were ever held is forgotten."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")
    return _most_memory()


def _most_memory() -> int:
    """Bytes that were held at a time, since it was forgotten; 0 where the system does not say."""
    if sys.platform != "linux":
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) << 10 if found else 0
