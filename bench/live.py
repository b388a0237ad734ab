"""What `leocod live` costs: a live picture over the network alone, and a session with a page that looks and labels.

The first table is one frame of 256 x 192: the network's `predict` alone, and all that makes a live picture of it. The
second is a session at 10 frames a second, in a process of its own, with a page that acknowledges every picture and
labels every few seconds: how old a picture is when it arrives, how many steps and seconds a label waits, how many
frames found no room, and memory over time. `--seconds` says how long; whether memory stays, half an hour tells.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from harness import Spread, arguments, in_turn, record, table
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.detectors.tiny import Tiny
from leocod.live.pictures import Pictures, encode_jpeg
from leocod.live.sources.base import Captured

FPS = 10
LABEL_EVERY = 3.0
"""Seconds that the person takes for a frame."""
SAMPLED_EVERY = 5.0
"""Seconds between two looks at the memory."""
MB = 1e6


# -- one picture


def compare_picture(rounds: int) -> dict[str, Spread]:
    """Seconds of the network alone, of a live picture, and of its JPEG file."""
    world = Wander(WanderOptions(steps=rounds // 16 + 2), seed=0)
    detector = Tiny(Tiny.known_classes(Tiny.Options()), Tiny.Options())
    frames = [frame.image() for step in range(world.steps) for frame, _ in world.frames_of(step)]
    pictures = Pictures(
        lambda: None, lambda image: detector.predict([image])[0], detector.classes.__getitem__, lambda classes: None
    )
    pictures.viewers = 1
    turn = iter(range(10**9))

    def next_frame() -> Any:
        # Three sides have the same frame in a round.
        return frames[(next(turn) // 3) % len(frames)]

    return in_turn(
        {
            "predict": lambda: detector.predict([next_frame()]),
            "live picture": lambda: pictures._show(Captured(next_frame(), time.time(), 0)),
            "JPEG file": lambda: encode_jpeg(next_frame()),
        },
        rounds=rounds,
        warm_up=min(rounds, 20),
    )


# -- a session


@dataclass
class Seen:
    """What a page saw."""

    lags: list[float] = field(default_factory=list)
    """Seconds from the capture of a picture to its arrival."""
    given: dict[int, float] = field(default_factory=dict)
    """Label -> when it was acknowledged."""
    learnt: dict[int, float] = field(default_factory=dict)
    """Label -> seconds from its acknowledgement until the page was told that it is learnt."""
    state: Mapping[str, Any] = field(default_factory=dict)
    memory: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the first picture, and MB of the server."""


async def look(address: str, process: int, seconds: float) -> Seen:
    """Look at the pictures and label, for so long."""
    seen = Seen()
    uri = f"{address.replace('http', 'ws', 1)}api/socket"
    async with connect(uri, origin=address.rstrip("/"), max_size=None, proxy=None) as socket:
        others = [asyncio.create_task(label(socket, seen)), asyncio.create_task(sample(process, seen))]
        with suppress(TimeoutError, ConnectionClosed):
            async with asyncio.timeout(seconds):
                async for message in socket:
                    await take(socket, message, seen)
        for task in others:
            task.cancel()
    return seen


async def take(socket: ClientConnection, message: str | bytes, seen: Seen) -> None:
    """What a page does with a message."""
    if isinstance(message, bytes):
        header = json.loads(message[4 : 4 + int.from_bytes(message[:4], "big")])
        seen.lags.append(time.time() - header["captured"])
        await socket.send(json.dumps({"type": "shown", "picture": header["picture"]}))
        return
    told = json.loads(message)
    if told["type"] == "ack" and told["ok"]:
        seen.given[told["label"]] = time.monotonic()
    elif told["type"] == "state":
        seen.state = told["state"]
        for one in seen.state["labels"]:
            if one["state"] == "learnt" and one["label"] in seen.given:
                seen.learnt.setdefault(one["label"], time.monotonic() - seen.given[one["label"]])


async def label(socket: ClientConnection, seen: Seen) -> None:
    """Accept what is proposed for the oldest frame, or draw a box, every few seconds."""
    draw = random.Random(0)
    for number in range(10**9):
        await asyncio.sleep(LABEL_EVERY)
        if requests := seen.state.get("requests"):
            request = requests[0]
            objects = [{"box": one["box"], "name": one["name"]} for one in request["proposals"]]
            height, width = request["size"]
            x, y = draw.uniform(0, width / 2), draw.uniform(0, height / 2)
            objects = objects or [{"box": [x, y, x + width / 4, y + height / 4], "name": "mug"}]
            command = {"type": "label", "id": number, "frame": request["frame"], "objects": objects}
            await socket.send(json.dumps({**command, "seconds": LABEL_EVERY, "key": f"bench {number}"}))


async def sample(process: int, seen: Seen) -> None:
    """How large the server is, every few seconds."""
    began = time.monotonic()
    while True:
        status = Path(f"/proc/{process}/status").read_text()
        resident = int(status.split("VmRSS:")[1].split()[0]) * 1024 / MB
        seen.memory.append((time.monotonic() - began, resident))
        await asyncio.sleep(SAMPLED_EVERY)


@contextmanager
def serving(run: Path) -> Iterator[tuple[str, int]]:
    """`leocod live` with its defaults in a process of its own: its address and its number."""
    command = [sys.executable, "-m", "leocod", "live", "--run", str(run), "--port", "0", "--fps", str(FPS)]
    process = subprocess.Popen(
        [*command, "--set", "threads=1"], stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "500"}
    )
    assert process.stdout is not None
    try:
        found = None
        while found is None:
            line = process.stdout.readline()
            if not line:
                raise SystemExit("The server did not start.")
            found = re.search(r"http://\S+/", line)
        yield found[0], process.pid
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()


def count_steps(journal: Path) -> list[int]:
    """Of each label that was learnt, the steps from its acknowledgement to the one that learnt it: 1 is the next."""
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    positions = {entry["label"]: place for place, entry in enumerate(entries) if entry["kind"] == "label"}
    return [
        sum(earlier["kind"] == "step" for earlier in entries[positions[number] : place + 1])
        for place, entry in enumerate(entries)
        if entry["kind"] == "step"
        for number in entry["labels"]
    ]


def hold_session(seconds: int) -> dict[str, Any]:
    """One session, and its figures."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        with serving(run) as (address, process):
            seen = asyncio.run(look(address, process, seconds))
        steps = count_steps(run / "journal.jsonl")
    counters = seen.state["counters"]
    # The first part fills the replay memory and the queues.
    settled = [pair for pair in seen.memory if pair[0] >= seconds / 3]
    return {
        "seconds": seconds,
        "frames a second": FPS,
        "pictures": len(seen.lags),
        "picture lag, s": {str(share): round(float(np.percentile(seen.lags, share)), 3) for share in (50, 95, 99, 100)},
        "labels": len(seen.given),
        "steps until a label is learnt": {str(count): steps.count(count) for count in sorted(set(steps))},
        "seconds until a label is learnt": Spread(tuple(seen.learnt.values())).kept() if seen.learnt else None,
        "frames seen": counters["frames_seen"],
        "frames dropped": counters["frames_dropped"],
        "steps learnt": counters["steps_learned"],
        "step_seconds": counters["step_seconds"],
        "memory, MB": {"first": round(seen.memory[0][1], 1), "most": round(max(m for _, m in seen.memory), 1)}
        | ({"after a third": round(settled[0][1], 1), "last": round(settled[-1][1], 1)} if settled else {}),
        "memory grows, MB a minute": round(fit_slope(settled) * 60, 3) if len(settled) > 2 else None,
        "memory over time": [(round(at), round(size, 1)) for at, size in seen.memory],
    }


def fit_slope(points: list[tuple[float, float]]) -> float:
    """By least squares."""
    return float(np.polyfit(*np.array(points).T, 1)[0])


def main() -> None:
    """Measure, print and record."""
    options: argparse.Namespace = arguments(__doc__, rounds=200, seconds=300)
    torch.set_num_threads(options.threads)
    sides = compare_picture(options.rounds)
    rows = [[name, side.told(unit=1e-3), side.over(sides["predict"]).told()] for name, side in sides.items()]
    print(table(["a frame of 256 x 192", "ms: median (middle half)", "over predict"], rows), end="\n\n")
    session = hold_session(options.seconds)
    shown = {key: value for key, value in session.items() if key != "memory over time"}
    print(table(["a session", ""], [[key, value] for key, value in shown.items()]), end="\n\n")
    record(
        options,
        {
            "picture": {name: side.kept() for name, side in sides.items()},
            "picture over predict": sides["live picture"].over(sides["predict"]).kept(),
            "session": session,
        },
    )
    print(f"a live picture over predict alone: {sides['live picture'].over(sides['predict']).median:.2f}")


if __name__ == "__main__":
    main()
