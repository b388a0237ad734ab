"""Disks that are full, or cannot be written to."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from trial import SMALL, Child, Ended, Lab, Trial, leocod, not_whole, steps_told

NO_OVERRIDE = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all")
"""Runs a command as somebody to whom permissions apply, also for the superuser."""


class NotAllowed(Exception):
    """What this machine does not let us try."""


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[Path]:
    """A file system in memory with a size of its own."""
    folder.mkdir(parents=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "leocod-soak", folder], capture_output=True)
    if done.returncode:
        raise NotAllowed(f"mount: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def remount(folder: Path, options: str) -> bool:
    """Change a mounted file system; whether it could be."""
    return subprocess.run(["mount", "-o", f"remount,{options}", folder], capture_output=True).returncode == 0


def fill(folder: Path) -> Path:
    """Take all that is left."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (2**20, 2**12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


def too_small_disks(lab: Lab) -> Iterator[Trial]:
    """A disk that is full from some byte on: at the first files, at the first, second and third checkpoint."""
    for size in lab.some(["4k", "12k", "24k", "64k", "8m", "20m", "35m"]):
        with small_disk(lab.new("small-disk"), f"size={size}") as disk:
            run = disk / "run"
            ended = Child("run", *SMALL, "--out", run).end()
            wrong = ended.wrong({2}) + _told(ended, "No space left") + not_whole(run)
            seen = f"full at {size}: stopped after {steps_told(run)} steps"
            if not remount(disk, "size=200m"):
                raise NotAllowed("mount -o remount")
            yield Trial(seen, wrong + lab.gone_on(run))


def no_inodes(lab: Lab) -> Iterator[Trial]:
    """A disk that has room, but takes no more files."""
    for inodes in lab.some([6, 9, 14, 20]):
        with small_disk(lab.new("few-inodes"), f"size=200m,nr_inodes={inodes}") as disk:
            run = disk / "run"
            ended = Child("run", *SMALL, "--out", run).end()
            wrong = ended.wrong({2}) + _told(ended, "No space left") + not_whole(run)
            seen = f"{inodes} files: stopped after {steps_told(run)} steps"
            remount(disk, "nr_inodes=500")
            yield Trial(seen, wrong + lab.gone_on(run))


def filled_disks(lab: Lab) -> Iterator[Trial]:
    """A disk that somebody else fills while the run goes on."""
    moments: dict[str, Callable[[Path], bool]] = {
        "when the log begins": lambda run: (run / "events.jsonl").exists(),
        "after the first step": lambda run: steps_told(run) >= 1,
        "after the first checkpoint": lambda run: any((run / "checkpoints").glob("step_*.pt")),
        "at an evaluation": lambda run: any((run / "detections").glob("step_*.json")),
        "in a checkpoint": lambda run: any((run / "checkpoints").glob(".step_00005*.part")),
        "after the last step": lambda run: steps_told(run) >= 12,
        "after the last checkpoint": lambda run: (run / "checkpoints" / "step_00011.pt").exists(),
        "at the results": lambda run: (run / "results.json").exists(),
        "at the report": lambda run: (run / "memory.json").exists(),
    }
    for moment in lab.some(list(moments)):
        with small_disk(lab.new("filled-disk"), "size=60m") as disk:
            run = disk / "run"
            child = Child("run", *SMALL, "--out", run)
            child.until(partial(moments[moment], run))
            # Nothing may run on while it is being filled, or it would be done before.
            child.send(signal.SIGSTOP)
            filler = fill(disk)
            child.send(signal.SIGCONT)
            ended = child.end()
            wrong = ended.wrong({0, 2}) + (_told(ended, "No space left") if ended.code else []) + not_whole(run)
            end = f"stopped after {steps_told(run)} steps" if ended.code else "had ended"
            filler.unlink()
            yield Trial(f"filled {moment}: {end}", wrong + lab.gone_on(run))


def small_files(lab: Lab) -> Iterator[Trial]:
    """A limit on the size of a file (RLIMIT_FSIZE), which needs no rights."""
    for size in lab.some([500, 1_000, 3_000, 5_000, 9_000, 100_000, 10_000_000]):
        run = lab.new("small-files")
        ended = Child("run", *SMALL, "--out", run, largest_file=size).end()
        wrong = ended.wrong({2}) + _told(ended, "File too large") + not_whole(run)
        yield Trial(f"files up to {size} bytes: stopped after {steps_told(run)} steps", wrong + lab.gone_on(run))


def read_only_start(lab: Lab) -> Iterator[Trial]:
    """A run directory that is to be where nothing can be written."""
    with small_disk(lab.new("read-only"), "size=60m") as disk:
        (disk / "empty").mkdir()
        if not remount(disk, "ro"):
            raise NotAllowed("mount -o remount,ro")
        for out in (disk / "run", disk / "empty", disk / "a" / "b"):
            ended = leocod("run", *SMALL, "--out", out)
            wrong = ended.wrong({2}) + _told(ended, "Read-only file system")
            yield Trial(f"--out {out.relative_to(disk)}: refused", wrong)
        remount(disk, "rw")
        yield Trial("writable again: ran", lab.gone_on(disk / "empty"))


def read_only_midway(lab: Lab) -> Iterator[Trial]:
    """A disk that turns read-only while the run goes on."""
    for steps in lab.some([1, 4, 9]):
        with small_disk(lab.new("turned-read-only"), "size=60m") as disk:
            run = disk / "run"
            child = Child("run", *SMALL, "--out", run, prefix=_as_somebody())
            child.until_learnt(run, steps)
            how = "remounted" if remount(disk, "ro") else "without the right to write"
            folders = [run, *(one for one in run.rglob("*") if one.is_dir())]
            if how != "remounted":
                # A file that is open for writing keeps the system from it: so folders only.
                for folder in folders:
                    folder.chmod(0o555)
            ended = child.end()
            wrong = ended.wrong({2}) + not_whole(run)
            again = Child("run", "--resume", run, prefix=_as_somebody()).end()
            wrong += [f"going on too early: {what}" for what in again.wrong({2})]
            remount(disk, "rw")
            for folder in folders:
                folder.chmod(0o755)
            seen = f"after {steps} steps, {how}: stopped after {steps_told(run)} steps"
            yield Trial(seen, wrong + lab.gone_on(run))


def unwritable_files(lab: Lab) -> Iterator[Trial]:
    """Something else stands where a file is to be written."""
    for name in lab.some(["labels.json", "results.json", "detections", "checkpoints", "samples", "report.html"]):
        run = lab.new("unwritable")
        child = Child("run", *SMALL, "--out", run)
        child.until_learnt(run, 1)
        child.send(signal.SIGSTOP)
        wanted = run / name
        shutil.rmtree(wanted, ignore_errors=True)
        # A folder cannot be replaced by a file, and nothing can be in a file.
        is_folder = not wanted.suffix
        wanted.write_text("in the way") if is_folder else (wanted / "in the way").mkdir(parents=True)
        child.send(signal.SIGCONT)
        ended = child.end()
        wrong = ended.wrong({2}) + _told(ended, name)
        wanted.unlink() if is_folder else shutil.rmtree(wanted)
        yield Trial(f"{name} in the way: stopped after {steps_told(run)} steps", wrong + lab.gone_on(run))


def _told(ended: Ended, words: str) -> list[str]:
    return [] if any(words in line for line in ended.lines) else [f"{words!r} is not told: {ended.err[-300:]}"]


def _as_somebody() -> tuple[str, ...]:
    if os.geteuid():
        return ()
    if shutil.which("setpriv") is None:
        raise NotAllowed("setpriv is not there, and to the superuser no permission applies")
    return NO_OVERRIDE
