"""Children of the command line, and what is promised about each: how it ends, what it says, what it leaves."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

from digests import digests
from whole import whole

HERE = Path(__file__).parent

Thing = TypeVar("Thing")

WALK = (
    *("--set", "benchmark.steps=12", "--set", "benchmark.width=64", "--set", "benchmark.height=48"),
    *("--set", "benchmark.places=2", "--set", "benchmark.instances=4", "--set", "benchmark.frames_per_step=4"),
)
"""The smallest world. Few frames a step: a run is then writing for most of its time, and that is what we are after."""
LEARNING = (
    *("--set", "detector.short_side=48", "--set", "labels.per_step=2", "--set", "strategy.replay_per_step=4"),
    *("--set", "evaluate.every=4", "--set", "checkpoint.every=3", "--threads", "1"),
)
SMALL = (*WALK, *LEARNING)

PATIENCE = 240.0
"""Seconds that a child may take. One that needs more hangs."""

NOISE = ("Traceback (most recent call last)", "Exception in thread", "Exception ignored", "Aborted!")


@dataclass(frozen=True)
class Trial:
    """One try of one fault: what was seen, and which promises were broken."""

    seen: str
    wrong: Sequence[str] = ()


@dataclass(frozen=True)
class Ended:
    """How a child has ended."""

    code: int | None
    """None: it had to be killed, because it did not end. As a shell has it: 143 for an end by SIGTERM."""
    out: str
    err: str
    seconds: float

    def wrong(self, codes: Collection[int]) -> list[str]:
        """Unless it ended as it may, without a traceback, and told what to do in one line."""
        wrong = [f"exit code {self.code} and not {sorted(codes)}: {self._tail}"] if self.code not in codes else []
        wrong += [f"{noise!r} in stderr: {self._tail}" for noise in NOISE if noise in self.err]
        if self.code == 2 and len(self.lines) != 1:
            wrong.append(f"{len(self.lines)} lines of error: {self._tail}")
        return wrong

    @property
    def lines(self) -> list[str]:
        """What was told as an error."""
        return [line for line in self.err.splitlines() if line.startswith("leocod: ")]

    @property
    def _tail(self) -> str:
        return " / ".join(self.err.strip().splitlines()[-3:])[-400:]


class Child:
    """A process of the command line."""

    def __init__(
        self,
        *arguments: object,
        program: Sequence[str] = ("-m", "leocod"),
        prefix: Sequence[str] = (),
        folder: Path | None = None,
        largest_file: int | None = None,
    ) -> None:
        """`prefix`: what runs it. `folder`: where it works. `largest_file`: bytes that it may write to one file."""
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [*prefix, sys.executable, *program, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            # A group of its own: a signal to all of it stays there.
            start_new_session=True,
            preexec_fn=partial(_prepare, largest_file),
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", "PYTHONPATH": _python_path()},
        )
        # Read all the time: a process that nobody listens to waits.
        self._said: dict[str, bytearray] = {"out": bytearray(), "err": bytearray()}
        pipes = {"out": self._process.stdout, "err": self._process.stderr}
        self._listeners = [
            threading.Thread(target=_listen, args=(pipe, self._said[name]), daemon=True)
            for name, pipe in pipes.items()
            if pipe is not None
        ]
        for listener in self._listeners:
            listener.start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, number: signal.Signals, *, group: bool = False) -> None:
        """A signal to the process, or to all that it has started too, as Ctrl-C in a terminal is."""
        if self.alive:
            os.killpg(self._process.pid, number) if group else self._process.send_signal(number)

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Wait for something; whether it came while the process was there."""
        end = time.monotonic() + seconds
        while self.alive and time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.002)
        return condition()

    def until_learnt(self, run: Path, steps: int) -> bool:
        """Wait until a run has told of so many steps."""
        return self.until(lambda: steps_told(run) >= steps)

    def until_told(self, words: str) -> bool:
        """Wait until it has said something on stderr."""
        return self.until(lambda: words.encode() in self._said["err"])

    def end(self, seconds: float = PATIENCE) -> Ended:
        """Wait for its end."""
        try:
            code: int | None = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            code = None
        if code is not None and code < 0:
            code = 128 - code
        for listener in self._listeners:
            # What it has started may have outlived it, and holds the pipe.
            listener.join(10)
        out, err = (bytes(self._said[name]).decode(errors="replace") for name in ("out", "err"))
        return Ended(code, out, err, time.monotonic() - self._began)


def leocod(*arguments: object, folder: Path | None = None) -> Ended:
    """Run a command to its end."""
    return Child(*arguments, folder=folder).end()


@dataclass
class Lab:
    """Where the runs are, and what an undisturbed one comes to."""

    home: Path
    draw: random.Random
    quick: bool = False
    """Each fault a few times only."""
    _expected: dict[str, dict[str, str]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def times(self, count: int) -> range:
        return range(min(count, 2) if self.quick else count)

    def some(self, things: Sequence[Thing]) -> Sequence[Thing]:
        return things[:2] if self.quick else things

    def new(self, name: str) -> Path:
        """A path that nothing is at yet."""
        with self.lock:
            number = self._numbers[name] = self._numbers.get(name, 0) + 1
        return self.home / f"{name}-{number}"

    def expected(self, name: str, arguments: Sequence[object]) -> dict[str, str]:
        """The digests of the undisturbed run of a name."""
        with self.lock:
            if name not in self._expected:
                run = self.home / f"undisturbed-{name}"
                ended = leocod("run", *arguments, "--out", run, folder=self.home)
                if ended.code:
                    raise RuntimeError(f"The undisturbed run failed: {ended.err}")
                self._expected[name] = digests(run)
            return self._expected[name]

    def gone_on(
        self, run: Path, arguments: Sequence[object] = SMALL, *, world: str = "walk", but: Collection[str] = ()
    ) -> list[str]:
        """Go on to the end, now that the cause is gone: what is not as in an undisturbed run."""
        expected = self.expected(world, arguments)
        begun = (run / "config.yaml").exists()
        how = ("--resume", run) if begun else (*arguments, "--out", run)
        ended = leocod("run", *how, folder=run.parent)
        wrong = [f"going on: {what}" for what in ended.wrong({0})] + not_whole(run)
        if ended.code == 0:
            found = digests(run)
            wrong += [f"{name} differs" for name in expected if found[name] != expected[name] and name not in but]
            wrong += [f"{file.name} is left over" for file in run.rglob(".*.part")]
        if not wrong:
            shutil.rmtree(run, ignore_errors=True)
        return wrong


def not_whole(run: Path) -> list[str]:
    """What is not whole under its real name."""
    return [f"not whole: {what}" for what in whole(run)]


def steps_told(run: Path) -> int:
    """Steps that the log of a run tells of so far."""
    try:
        lines = (run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum('"StepLearned"' in line for line in lines)


def events_of(run: Path, kind: str) -> list[Mapping[str, object]]:
    """What was told of one kind."""
    told = [json.loads(line) for line in (run / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    return [event for event in told if event["event"] == kind]


def _listen(pipe: IO[bytes], said: bytearray) -> None:
    while piece := os.read(pipe.fileno(), 2**16):
        said += piece
    pipe.close()


def _prepare(largest_file: int | None) -> None:
    # What a shell starts in the background is told to ignore Ctrl-C, and so is what that starts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))


def _python_path() -> str:
    return os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
