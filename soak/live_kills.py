"""SIGKILL of `leocod live` at random moments, while a page labels and corrects: is all that was acknowledged there?

A page on the websocket labels what it is asked for, and now and then takes back, renames, merges, pins, forgets. After
every kill the journal, and after every restart the state, must have each label that was acknowledged and not taken
back, once. Each run is killed some times in a row; then it goes on, learns all labels, and is ended by Ctrl-C. In the
end its last steps are learnt again from its oldest checkpoint, and must come to the same weights.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from kills import COLD, Process
from live_page import Page
from live_promises import Told, check_frames, check_journal, check_state, read_journal

import leocod
from leocod.run.environment import read_source_state

SMALL = (
    *("--fps", "60", "--set", "detector={short_side: 48, regions: 16, proposals: 24}"),
    *("--set", "benchmark={frames_per_step: 3, keep_aside: 5, measure_every: 4}"),
    *("--set", "strategy.replay_per_step=3", "--set", "checkpoint={every: 3, keep: 4}", "--set", "threads=1"),
)
IN_A_ROW = 10
"""Kills of one run before it may end."""
PLANS = {"any moment": 4, "start": 2, "checkpoint": 3, "command": 3, "undo": 2}
"""When to strike, and how often so."""
PATIENCE = 240.0
"""Seconds after which something that should happen is taken for a hang."""
LAST_STEPS = 16
"""Steps that a run learns before its end: more than there are between its oldest checkpoint and its newest."""


@dataclass
class Tally:
    """What was seen."""

    kills: int = 0
    moments: Counter[str] = field(default_factory=Counter)
    """Where a kill struck."""
    acknowledged: Counter[str] = field(default_factory=Counter)
    """Commands by kind."""
    unanswered: Counter[str] = field(default_factory=Counter)
    served: int = 0
    """Lives in which the page was there."""
    went_on: int = 0
    """Of these, lives in which further steps were learnt before the kill."""
    start: float = 3.0
    """Seconds that a start took, at most."""
    steps: int = 0
    learnt_again: int = 0
    """Runs whose last steps came to the same weights when they were learnt again."""
    wrong: list[str] = field(default_factory=list)


class Life:
    """One process of a run, from its start to its end."""

    def __init__(self, run: Path, log: Path, *, cold: bool) -> None:
        self.run = run
        self.log = log
        log.touch()
        self._offset = log.stat().st_size
        self.process = Process(["live", "--run", str(run), "--port", "0", *SMALL], log, cold=cold)

    def told(self) -> str:
        """What it has printed."""
        return self.log.read_bytes()[self._offset :].decode(errors="replace")

    def wait_for_address(self) -> str:
        """Wait until the page is there."""
        self.wait_until(lambda: "browser" in self.told())
        found = re.search(r"http://\S+/", self.told())
        assert found
        return found[0]

    def wait_until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait for something; that it ends by itself, or takes too long, is a finding."""
        until = time.monotonic() + seconds
        while not condition():
            code = self.process.wait(0.005)
            if code is not None:
                raise Broken(f"it ended by itself with code {code}: {self.told()[-2000:]}")
            if time.monotonic() > until:
                self.process.kill()
                raise Broken(f"nothing happened for {seconds} s: {self.told()[-2000:]}")

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *_: object) -> None:
        # It may be gone already; it must not outlive us.
        with suppress(ProcessLookupError, ChildProcessError):
            self.process.kill()

    @property
    def saving(self) -> bool:
        """Whether it is writing a checkpoint."""
        return any((self.run / "checkpoints").glob(".*.part"))


class Broken(Exception):
    """A promise that was not kept, so that the run cannot go on."""


def read_state(address: str) -> dict[str, Any]:
    """Over HTTP, as a page that is opened anew."""
    with urlopen(f"{address}api/state", timeout=PATIENCE) as answer:
        state: dict[str, Any] = json.load(answer)
        return state


async def strike(life: Life, page: Page, address: str, plan: str) -> str:
    """Let the page act; kill the process in the midst of it, and say where that was."""
    visiting = asyncio.create_task(page.visit(address))
    draw = page.draw
    await asyncio.sleep(draw.uniform(0, 5))
    until = time.monotonic() + 20

    async def wait_for(condition: Callable[[], object], longest: float) -> None:
        while not condition() and time.monotonic() < until and not visiting.done():
            await asyncio.sleep(0.001)
        await asyncio.sleep(draw.uniform(0, longest))

    if plan == "checkpoint":
        await wait_for(lambda: life.saving, 0.05)
    elif plan == "command":
        await wait_for(lambda: page.under_way, 0.03)
    elif plan == "undo":
        await wait_for(lambda: "undo" in page.under_way, 0.3)
    if visiting.done():
        # The page left because the server did, or by a mistake of its own.
        visiting.result()
        life.wait_until(lambda: False, 10)
    life.process.kill()
    where = "in a checkpoint" if life.saving else "while a command was under way" if page.waiting else "between"
    # What the server had sent before is still heard.
    await visiting
    return where


def live(run: Path, log: Path, page: Page, tally: Tally) -> None:
    """One life of a run, and its end by a kill."""
    before = read_journal(run / "journal.jsonl")
    (plan,) = page.draw.choices(list(PLANS), list(PLANS.values()))
    with Life(run, log, cold=page.draw.random() < COLD) as life:
        if plan == "start":
            if (code := life.process.wait(page.draw.uniform(0, tally.start))) is not None:
                raise Broken(f"it ended by itself with code {code}: {life.told()[-2000:]}")
            life.process.kill()
            where = "while it started"
        else:
            began = time.monotonic()
            address = life.wait_for_address()
            tally.start = max(tally.start, round(time.monotonic() - began, 1))
            found = check_state(read_state(address), before) if before.entries else []
            tally.wrong += [f"{run.name}, after a restart: {what}" for what in found]
            tally.served += 1
            where = asyncio.run(strike(life, page, address, plan))
    told = read_journal(run / "journal.jsonl")
    tally.kills += 1
    tally.moments[where] += 1
    tally.went_on += told.steps > before.steps
    tally.wrong += [f"{run.name}, after a kill: {what}" for what in look(run, told, page, before)]


def look(run: Path, told: Told, page: Page, before: Told) -> list[str]:
    """What is wrong after a kill."""
    wrong = check_journal(told, page.sent) + check_frames(run, told)
    if told.entries[: len(before.entries)] != before.entries:
        wrong.append("the journal was rewritten")
    return wrong


def end(run: Path, log: Path, page: Page, tally: Tally) -> None:
    """Go on, learn every label, and end by Ctrl-C."""
    before = read_journal(run / "journal.jsonl")
    page.corrects = False
    with Life(run, log, cold=False) as life:
        address = life.wait_for_address()
        tally.wrong += [f"{run.name}, in its last life: {what}" for what in check_state(read_state(address), before)]
        asyncio.run(label_until(address, page, lambda: read_journal(run / "journal.jsonl").steps - before.steps))
        life.wait_until(lambda: all(one["state"] != "waiting" for one in read_state(address)["labels"]))
        os.kill(life.process.pid, signal.SIGINT)
        code = life.process.wait(PATIENCE)
        if code not in (0, 130) or "Go on with" not in life.told():
            tally.wrong.append(f"{run.name} ended with code {code}: {life.told()[-2000:]}")
    told = read_journal(run / "journal.jsonl")
    tally.wrong += [f"{run.name}, at its end: {what}" for what in look(run, told, page, before)]
    if told.steps < before.steps + LAST_STEPS:
        tally.wrong.append(f"{run.name} did not go on")
    tally.steps += told.steps


async def label_until(address: str, page: Page, count_steps: Callable[[], int]) -> None:
    """Label until the last steps are learnt."""
    visiting = asyncio.create_task(page.visit(address))
    until = time.monotonic() + PATIENCE
    while count_steps() < LAST_STEPS and time.monotonic() < until:
        await asyncio.sleep(0.1)
    visiting.cancel()
    await asyncio.wait([visiting])


def learn_again(run: Path) -> bool:
    """Whether the steps after the oldest checkpoint, learnt once more, come to the weights of the newest."""
    from leocod.files.run_directory import RunDirectory
    from leocod.live.session import LiveSession
    from leocod.run.config import load_run_config
    from leocod.training.gradients import hash_tensors

    found = []
    for name in ("newest", "oldest"):
        twin = run.with_name(f"{run.name}-{name}")
        shutil.copytree(run, twin)
        for path in sorted((twin / "checkpoints").glob("*.pt"))[1:] if name == "oldest" else ():
            path.unlink()
        directory = RunDirectory(twin)
        session = LiveSession(directory, load_run_config(directory.config))
        session.journal.close()
        found.append(
            [hash_tensors(detector.state_dict()["weights"]) for detector in session.learning.learner.detectors]
        )
        shutil.rmtree(twin)
    return found[0] == found[1]


def soak(home: Path, *, kills: int, seed: int, in_a_row: int = IN_A_ROW) -> Tally:
    """Kill so many times."""
    tally = Tally()
    while tally.kills < kills:
        run, log = home / f"run-{tally.kills}", home / f"run-{tally.kills}.log"
        page = Page(random.Random(f"{seed} {tally.kills}"))
        try:
            for _ in range(min(in_a_row, kills - tally.kills)):
                live(run, log, page, tally)
            end(run, log, page, tally)
            # In a process of its own: here nothing may have computed before the next one is forked.
            if run_apart(lambda run=run: learn_again(run)):
                tally.learnt_again += 1
            else:
                tally.wrong.append(f"{run.name}: what was learnt again is not the same")
        except Broken as error:
            tally.wrong.append(f"{run.name}: {error}")
            tally.kills += 1
        if "Traceback" in log.read_text(errors="replace"):
            tally.wrong.append(f"{run.name}: a traceback")
        tally.acknowledged.update(str(one.command["type"]) for one in page.sent if one.taken)
        tally.unanswered.update(str(one.command["type"]) for one in page.sent if one.answer is None)
        print(f"{tally.kills} kills, {len(tally.wrong)} wrong, {dict(tally.moments)}", flush=True)
    return tally


def run_apart(work: Callable[[], bool]) -> bool:
    """Do something in a forked process; whether it was so."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    code = 1
    try:
        code = 0 if work() else 1
    finally:
        sys.stdout.flush()
        os._exit(code)


def main() -> None:
    """Kill, look, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--in-a-row", type=int, default=IN_A_ROW, help="kills of one run before it may end")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and of what the page does")
    parser.add_argument("--home", type=Path, default=Path("runs/soak/live_kills"), help="where the runs go")
    parser.add_argument("--out", type=Path, default=Path("results/soak/live_kills.json"))
    options = parser.parse_args()
    if options.home.exists():
        raise SystemExit(f"{options.home} is there already. Remove it first.")
    options.home.mkdir(parents=True)
    # Imported once, for all that are forked.
    import_module("leocod.live.run")
    began = time.monotonic()
    tally = soak(options.home, kills=options.kills, seed=options.seed, in_a_row=options.in_a_row)
    content = {
        **vars(tally),
        "seconds": round(time.monotonic() - began),
        "settings": list(SMALL),
        "command": ["python", "soak/live_kills.py", *sys.argv[1:]],
        "source": read_source_state(Path(leocod.__file__).parent),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(content, indent=1) + "\n")
    print(json.dumps({**vars(tally), "wrong": len(tally.wrong)}, indent=1))
    for what in tally.wrong:
        print(what[:2000])
    if tally.wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
