"""HTTP and websockets byte by byte, for what no library would send."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

PATIENCE = 60.0
"""Seconds without an answer that are taken for a hang."""

TEXT, BINARY, CLOSE = 1, 2, 8


@dataclass(frozen=True)
class Answer:
    """What came back before the server closed the connection."""

    raw: bytes

    @property
    def status(self) -> int | None:
        """Of the first answer; None: there was none."""
        words = self.raw.split(b"\r\n", 1)[0].split(b" ")
        return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit() else None

    @property
    def body(self) -> bytes:
        """All that comes after the first head."""
        return self.raw.partition(b"\r\n\r\n")[2]


def exchange(port: int, raw: bytes, *, silence: float = PATIENCE) -> Answer:
    """Send bytes, and read until the server closes.

    After so many seconds of silence it is told that there is no more to come: it may be waiting for the rest.
    """
    received = bytearray()
    # A server that refuses what it has not read to its end resets the connection.
    resets = suppress(BrokenPipeError, ConnectionResetError)
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection, resets:
        connection.sendall(raw)
        connection.settimeout(silence)
        try:
            while piece := connection.recv(2**16):
                received += piece
        except TimeoutError:
            connection.settimeout(PATIENCE)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(2**16):
                received += piece
    return Answer(bytes(received))


def make_request(target: str, headers: Mapping[str, str], method: str = "GET") -> bytes:
    """A request as a browser would send it; the connection is closed after it."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def make_handshake(headers: Mapping[str, str], target: str = "/api/socket") -> bytes:
    """The request that opens a websocket."""
    more = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in {**headers, **more}.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def make_frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """A frame from a client, masked as it must be."""
    mask = b"\x11\x22\x33\x44"
    length = len(payload)
    if length < 126:
        size = bytes([0x80 | length])
    elif length < 2**16:
        size = bytes([0x80 | 126]) + length.to_bytes(2, "big")
    else:
        size = bytes([0x80 | 127]) + length.to_bytes(8, "big")
    masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
    return bytes([0x80 | opcode]) + size + mask + masked


class Closed(Exception):
    """The server has closed a websocket; `code` says why, None: without a word."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


class Visit:
    """An open websocket."""

    def __init__(self, port: int, headers: Mapping[str, str]) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._buffer = bytearray()
        self.send(make_handshake(headers))
        while b"\r\n\r\n" not in self._buffer:
            self._fill()
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        self.head = head
        self._buffer = bytearray(rest)
        if b" 101 " not in head.split(b"\r\n", 1)[0] + b" ":
            raise Closed(None)

    def send(self, raw: bytes) -> None:
        """Send bytes as they are."""
        try:
            self._connection.sendall(raw)
        except OSError as error:
            raise Closed(None) from error

    def receive(self) -> tuple[int, bytes]:
        """The next frame: its kind and its payload."""
        self._fill_up_to(2)
        kind, length, head = self._buffer[0] & 15, self._buffer[1], 2
        if length >= 126:
            head = 4 if length == 126 else 10
            self._fill_up_to(head)
            length = int.from_bytes(self._buffer[2:head], "big")
        self._fill_up_to(head + length)
        payload = bytes(self._buffer[head : head + length])
        del self._buffer[: head + length]
        if kind == CLOSE:
            raise Closed(int.from_bytes(payload[:2], "big") if length >= 2 else None)
        return kind, payload

    def wait_for_ack(self) -> dict[str, Any]:
        """The next answer to a command; states and pictures are passed over."""
        while True:
            kind, payload = self.receive()
            if kind == TEXT:
                told: dict[str, Any] = json.loads(payload)
                if told["type"] == "ack":
                    return told

    def ask(self, **command: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.send(make_frame(json.dumps(command).encode()))
        return self.wait_for_ack()

    def listen(self, silence: float) -> list[dict[str, Any]]:
        """Answers, until nothing but states has come for a while. Then it is told that there is no more to come."""
        told: list[dict[str, Any]] = []
        until = time.monotonic() + silence
        self._connection.settimeout(silence)
        # What has come in part is kept.
        with suppress(TimeoutError):
            while time.monotonic() < until:
                kind, payload = self.receive()
                told += [json.loads(payload)] if kind == TEXT else []
        self._connection.settimeout(PATIENCE)
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
        return [one for one in told if one["type"] == "ack"]

    def close(self) -> None:
        """Go."""
        self._connection.close()

    def _fill_up_to(self, count: int) -> None:
        while len(self._buffer) < count:
            self._fill()

    def _fill(self) -> None:
        try:
            piece = self._connection.recv(2**16)
        except ConnectionResetError as error:
            raise Closed(None) from error
        if not piece:
            raise Closed(None)
        self._buffer += piece
