"""A live run to be fuzzed: prepared, served by a process of its own, paused, and looked at from outside."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from live_wire import Closed, Visit, exchange, make_frame, make_request

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.files.checkpoint import read_checkpoint
from leocod.files.run_directory import RunDirectory
from leocod.live.drawn import DrawnObject
from leocod.live.session import LiveSession
from leocod.run.config import load_mapping

CONFIG = {
    "benchmark": {"name": "live", "frames_per_step": 3, "keep_aside": 0},
    "labels": {"per_step": 1},
    "detector": {"name": "tiny", "short_side": 48, "regions": 16, "proposals": 24},
    "strategy": {"name": "icarl", "replay_per_step": 3},
    "efficient_cls": {},
    "checkpoint": {"every": 100, "keep": 2},
    "threads": 1,
}
PATIENCE = 240.0
FENCE = 2**53 - 1
"""A frame that nobody has: to skip it is answered, and changes nothing."""
NOT_TO_TELL = (b"Traceback (most recent", b'File "', b"site-packages", b"root:x:0", b'"kind":', b"frames_per_step:")
"""What is in a traceback, and in files that are not to be had."""


def prepare_run(folder: Path) -> None:
    """A run with labels, a memory and requests; always the same."""
    folder.mkdir(parents=True)
    config = load_mapping(CONFIG)
    (folder / "config.yaml").write_text(config.to_yaml())
    world = Wander(WanderOptions(steps=20, width=64, height=48, frames_per_step=3), seed=3)
    session = LiveSession(RunDirectory(folder), config)
    for step in range(8):
        session.take_step([frame.image() for frame, _ in world.frames_of(step)])
        if step < 4:
            session.label(next(iter(session.book.requests)), [DrawnObject((5, 5, 40, 40), "mug")])
    session.close()


class Target:
    """A server, and what it must not lose."""

    def __init__(self, run: Path, address: str) -> None:
        """`address`: 127.0.0.1, or another spelling of it, for which a token is needed."""
        self.run = run
        self.log = run.with_name(f"{run.name}.log")
        command = [sys.executable, "-m", "leocod", "live", "--run", str(run), "--port", "0", "--host", address]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "500"}
            )
        found = self._wait_for_address()
        self.port = int(found["port"])
        self.token: str | None = found["token"]
        self._visit: Visit | None = None
        self._asked = 0
        self._known: dict[str, Any] = {}
        self._journal_bytes = 0

    def _wait_for_address(self) -> re.Match[str]:
        until = time.monotonic() + PATIENCE
        while True:
            told = self.log.read_text(errors="replace")
            if found := re.search(r"http://[\w.]+:(?P<port>\d+)/(?:\?token=(?P<token>\S+))? in a browser", told):
                return found
            if self.process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise SystemExit(f"The server did not start: {told}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()

    @property
    def headers(self) -> dict[str, str]:
        """Of its own page."""
        own = {"Host": f"127.0.0.1:{self.port}", "Origin": f"http://127.0.0.1:{self.port}"}
        return own if self.token is None else {**own, "Cookie": f"leocod_token={self.token}"}

    # -- talking

    @property
    def visit(self) -> Visit:
        """The page that is open; opened again when it was closed."""
        if self._visit is None:
            self._visit = Visit(self.port, self.headers)
        return self._visit

    def leave(self) -> None:
        """Close the page."""
        if self._visit is not None:
            self._visit.close()
            self._visit = None

    def ask(self, **command: Any) -> dict[str, Any]:
        """A valid command."""
        self._asked += 1
        return self.visit.ask(id=10**6 + self._asked, **command)

    def pass_fence(self) -> list[dict[str, Any]]:
        """Answers that came without a question, up to now."""
        self._asked += 1
        number, strays = 10**6 + self._asked, []
        try:
            self.visit.send(make_frame(json.dumps({"type": "skip", "id": number, "frame": FENCE}).encode()))
            while (told := self.visit.wait_for_ack())["id"] != number:
                strays.append(told)
        except Closed:
            self.leave()
        return strays

    # -- looking

    def settle(self) -> None:
        """Pause, let the learner finish, and remember how everything is now."""
        for kind in ("pause", "checkpoint"):
            if not (told := self.ask(type=kind))["ok"]:
                raise SystemExit(f"The server does not {kind}: {told}")
        self._known = self._look()
        self.has_written()

    def list_changes(self) -> list[str]:
        """What is not as it was."""
        self.leave()
        if not (told := self.ask(type="checkpoint"))["ok"]:
            return [f"it cannot save: {told}"]
        now = self._look()
        return [f"{key} has changed" for key, value in self._known.items() if now[key] != value]

    def has_written(self) -> bool:
        """Whether there is a new entry in the journal since this was asked last."""
        before, self._journal_bytes = self._journal_bytes, (self.run / "journal.jsonl").stat().st_size
        return self._journal_bytes != before

    def _look(self) -> dict[str, Any]:
        newest = max((self.run / "checkpoints").glob("step_*.pt"))
        state = self.read_state()
        return {
            "journal": (self.run / "journal.jsonl").read_bytes(),
            "learner": hash_state(read_checkpoint(newest)),
            "files": sorted(str(file.relative_to(self.run)) for file in self.run.rglob("*") if file.is_file()),
            "status": state["status"],
            **{key: state[key] for key in ("requests", "labels", "accuracy", "memory", "kept_aside", "exports", "run")},
            "classes": [{**known, "last_seen": None} for known in state["classes"]],
            "counters": {key: state["counters"][key] for key in ("labels", "boxes", "seconds", "steps_learned")},
        }

    @property
    def memory(self) -> float | None:
        """MB that the server takes; None where the system does not say."""
        status = Path(f"/proc/{self.process.pid}/status")
        found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return round(int(found[1]) / 1000, 1) if found else None

    def read_state(self) -> dict[str, Any]:
        """Over HTTP."""
        answer = exchange(self.port, make_request("/api/state", self.headers))
        state: dict[str, Any] = json.loads(answer.body)
        return state

    def find_leak(self, raw: bytes) -> str | None:
        """What an answer tells that is nobody's business. The state may name the directory; a page shows it."""
        told = [word for word in NOT_TO_TELL if word in raw]
        if b'"counters"' not in raw and str(self.run).encode() in raw:
            told.append(str(self.run).encode())
        return f"it tells {told[0]!r}" if told else None


def hash_state(state: Any) -> str:
    """A hash of whatever a checkpoint holds."""
    digest = hashlib.sha256()
    _add(digest, state)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, one in value.items():
            digest.update(repr(key).encode())
            _add(digest, one)
    elif isinstance(value, (list, tuple)):
        digest.update(b"[%d" % len(value))
        for one in value:
            _add(digest, one)
    elif hasattr(value, "numpy"):
        digest.update(repr(value.shape).encode() + value.numpy().tobytes())
    else:
        digest.update(repr(value).encode())
