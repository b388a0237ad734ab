"""Connections to the server, before anybody has asked for anything: a bounded number, and none without an answer."""

from __future__ import annotations

from asyncio import Transport
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from leocod.live.access import COOKIE

MOST_CONNECTIONS = 128
"""Open at a time, whoever opens them: files are needed for frames and checkpoints. A browser needs fewer than ten."""


class Connection(H11Protocol):
    """One connection, as uvicorn has it but for these limits."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()

    def handle_websocket_upgrade(self, event: Any) -> None:
        # A browser sends the cookies of all other servers on this machine along, and a long line is not taken.
        self.headers = [(name, _pick(value) if name == b"cookie" else value) for name, value in self.headers]
        super().handle_websocket_upgrade(event)
        if not getattr(self.transport.get_protocol(), "handshake_initiated", True):
            # Not understood. Left alone, it would stay open without an answer.
            self.send_400_response("This is no websocket handshake.")


def _pick(cookies: bytes) -> bytes:
    """The cookie of this server."""
    return b"; ".join(one.strip() for one in cookies.split(b";") if one.strip().startswith(COOKIE.encode() + b"="))
