"""A page of `leocod live` that nobody looks at: it labels and corrects at random, and keeps what it was told."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

WEIGHTS = {
    "label": 10,
    "again": 1,
    "undo": 2,
    "rename": 1,
    "merge": 1,
    "pin": 2,
    "forget": 1,
    "skip": 1,
    "checkpoint": 1,
    "pause": 1,
}
"""How often each act is tried."""
MOST_CLASSES = 16
"""Of these a page adds no more: a large network would be slow."""


@dataclass
class Sent:
    """A command, and what came back."""

    command: Mapping[str, Any]
    answer: Mapping[str, Any] | None = None

    @property
    def taken(self) -> bool:
        """Whether the page was told that it is done."""
        return self.answer is not None and self.answer["ok"]


@dataclass
class Page:
    """Acts until the server is gone. It outlives the server: what it sent and heard is in `sent`, oldest first."""

    draw: random.Random
    corrects: bool = True
    """Whether it takes back and changes, too, or only labels."""
    sent: list[Sent] = field(default_factory=list)
    state: Mapping[str, Any] = field(default_factory=dict)
    waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = field(default_factory=dict)
    """Commands that are under way, by their numbers."""
    names: int = 0

    @property
    def under_way(self) -> list[str]:
        """What kinds of commands are not answered yet."""
        return sorted({str(self.sent[number].command["type"]) for number in self.waiting})

    async def visit(self, address: str) -> None:
        """Open the page, send again what was not answered, and act."""
        self.state, self.waiting = {}, {}
        origin = address.rstrip("/")
        with suppress(ConnectionClosed, OSError):
            async with connect(
                f"{address.replace('http', 'ws', 1)}api/socket", origin=origin, max_size=None, proxy=None
            ) as socket:
                acting = asyncio.create_task(self._act(socket))
                try:
                    await self._listen(socket)
                finally:
                    acting.cancel()
                    # A mistake of the page is one; that it was broken off is none.
                    with suppress(asyncio.CancelledError, ConnectionClosed):
                        await acting

    async def _listen(self, socket: ClientConnection) -> None:
        async for message in socket:
            if isinstance(message, bytes):
                header = json.loads(message[4 : 4 + int.from_bytes(message[:4], "big")])
                await socket.send(json.dumps({"type": "shown", "picture": header["picture"]}))
                continue
            told = json.loads(message)
            if told["type"] == "state":
                self.state = told["state"]
            else:
                self.sent[told["id"]].answer = told
                if not (answer := self.waiting.pop(told["id"])).done():
                    answer.set_result(told)

    async def _act(self, socket: ClientConnection) -> None:
        while not self.state:
            await asyncio.sleep(0.01)
        for lost in [one for one in self.sent if one.answer is None and one.command["type"] == "label"]:
            # As a page does that has heard no answer: the same label under the same key.
            await self._ask(socket, **{key: value for key, value in lost.command.items() if key != "id"})
        while True:
            await asyncio.sleep(self.draw.choice((0.0, 0.0, 0.05, 0.3)))
            acts = WEIGHTS if self.corrects else {"label": 1}
            (act,) = self.draw.choices(list(acts), list(acts.values()))
            for command in getattr(self, f"_{act}")():
                await self._ask(socket, **command)

    async def _ask(self, socket: ClientConnection, **command: Any) -> None:
        number = len(self.sent)
        self.sent.append(Sent({"id": number, **command}))
        answer = self.waiting[number] = asyncio.get_running_loop().create_future()
        await socket.send(json.dumps(self.sent[-1].command))
        # Now and then the next one goes before this one is answered.
        if self.draw.random() < 0.7:
            await answer

    # -- what it can do: none, one or two commands each

    def _label(self) -> list[dict[str, Any]]:
        # Not what was sent already: the state may be older.
        asked = {one.command.get("frame") for one in self.sent[-20:]}
        requests = [one for one in self.state["requests"] if one["frame"] not in asked]
        if not requests:
            return []
        request = self.draw.choice(requests)
        return [
            {
                "type": "label",
                "frame": request["frame"],
                "objects": [self._draw_object(*request["size"]) for _ in range(self.draw.randrange(4))],
                "complete": self.draw.random() < 0.8,
                "seconds": round(self.draw.uniform(0, 9), 1),
                "key": f"{self.draw.getrandbits(64):x}",
            }
        ]

    def _draw_object(self, height: int, width: int) -> dict[str, Any]:
        x, y = self.draw.uniform(0, width - 20), self.draw.uniform(0, height - 20)
        return {"box": [x, y, x + self.draw.uniform(8, 60), y + self.draw.uniform(8, 60)], "name": self._choose_name()}

    def _choose_name(self) -> str:
        known = self._classes()
        # Also a name that a class had before it was renamed or merged.
        old = [str(one.command["name"]) for one in self.sent if one.command["type"] in ("rename", "merge")]
        chance = self.draw.random()
        if chance < 0.1 and old:
            return self.draw.choice(old)
        return self._make_name() if chance < 0.25 and len(known) < MOST_CLASSES else self.draw.choice(known)

    def _make_name(self) -> str:
        self.names += 1
        return f"{self.draw.choice(('pen', 'Löffel', '杯子', 'a b'))} {self.names}"

    def _classes(self) -> list[str]:
        return [known["name"] for known in self.state["classes"]]

    def _again(self) -> list[dict[str, Any]]:
        """A label that was taken, sent once more."""
        taken = [one for one in self.sent if one.taken and one.command["type"] == "label"]
        if not taken:
            return []
        return [{key: value for key, value in self.draw.choice(taken[-5:]).command.items() if key != "id"}]

    def _undo(self) -> list[dict[str, Any]]:
        listed = [one["label"] for one in self.state["labels"]]
        if not listed:
            return []
        return [{"type": "undo"} if self.draw.random() < 0.5 else {"type": "undo", "label": self.draw.choice(listed)}]

    def _rename(self) -> list[dict[str, Any]]:
        return [{"type": "rename", "name": self.draw.choice(self._classes()), "to": self._make_name()}]

    def _merge(self) -> list[dict[str, Any]]:
        known = self._classes()
        if len(known) < 6:
            return []
        name, into = self.draw.sample(known, 2)
        return [{"type": "merge", "name": name, "into": into}]

    def _pin(self) -> list[dict[str, Any]]:
        return [
            {"type": "pin", "frame": frame, "pinned": self.draw.random() < 0.7} for frame in self._choose_remembered()
        ]

    def _forget(self) -> list[dict[str, Any]]:
        return [{"type": "forget", "frame": frame} for frame in self._choose_remembered()]

    def _choose_remembered(self) -> list[int]:
        frames = [one["frame"] for one in self.state["memory"]]
        return self.draw.sample(frames, 1) if frames else []

    def _skip(self) -> list[dict[str, Any]]:
        frames = [one["frame"] for one in self.state["requests"]]
        return [{"type": "skip", "frame": self.draw.choice(frames)}] if frames else []

    def _checkpoint(self) -> list[dict[str, Any]]:
        return [{"type": "checkpoint"}]

    def _pause(self) -> list[dict[str, Any]]:
        return [{"type": "pause"}, {"type": "resume"}]
