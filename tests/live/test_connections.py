"""Connections: a bounded number, and none without an answer."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from threading import Thread

import pytest
import uvicorn

from leocod.live import connections
from leocod.live.connections import Connection

HANDSHAKE = (
    "GET {target} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
)


async def app(scope, receive, send) -> None:
    """Takes every socket, and sends its cookies back."""
    assert scope["type"] == "websocket"
    await receive()
    await send({"type": "websocket.accept"})
    cookies = b",".join(value for name, value in scope["headers"] if name == b"cookie")
    await send({"type": "websocket.send", "bytes": cookies})
    await send({"type": "websocket.close"})


@pytest.fixture
def port() -> Iterator[int]:
    config = uvicorn.Config(app, http=Connection, ws="websockets-sansio", log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        thread = Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        yield bound.getsockname()[1]
        server.should_exit = True
        thread.join()


def knock(port: int, *, target: str = "/", more: str = "") -> bytes:
    """What comes first."""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(HANDSHAKE.format(target=target, more=more).encode("latin-1"))
        received = b""
        while b"\r\n\r\n" not in received or (b" 101 " in received and received.endswith(b"\r\n\r\n")):
            if not (piece := connection.recv(4096)):
                raise ConnectionResetError("reset")
            received += piece
        return received


def test_cookies_of_other_servers_do_not_keep_a_page_out(port: int) -> None:
    others = "; ".join(f"session{number}={'x' * 100}" for number in range(200))

    answer = knock(port, more=f"Cookie: {others}; leocod_token=secret; z=1\r\n")

    assert b" 101 " in answer
    assert b"leocod_token=secret" in answer
    assert b"session" not in answer


@pytest.mark.parametrize(
    ("target", "more"),
    [("/" + "a" * 9000, ""), ("/", f"X: {'y' * 9000}\r\n"), ("/", "X: \x01\r\n"), ("/", "X: y\r\n" * 200)],
)
def test_a_handshake_that_is_not_understood_is_refused_at_once(port: int, target: str, more: str) -> None:
    assert knock(port, target=target, more=more).startswith(b"HTTP/1.1 400 ")


def test_whoever_comes_when_very_many_are_there_is_turned_away(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    idle = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(3)]
    # They are taken one after the other.
    time.sleep(0.5)

    with pytest.raises(OSError, match="reset|timed out"):
        knock(port)

    for connection in idle:
        connection.close()
    ends = time.monotonic() + 30
    while True:
        try:
            assert b" 101 " in knock(port)
            break
        except OSError:
            assert time.monotonic() < ends
            time.sleep(0.05)
