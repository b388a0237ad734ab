"""The server: what it sends, what it takes, and what it refuses."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest
from fastapi import WebSocketDisconnect
from fastapi.testclient import TestClient
from tests.live.serving import HOST, OURS, PORT, ask, wait_for

from leocod.live.access import Access
from leocod.live.server import make_app


def test_every_answer_forbids_what_a_page_need_not_do(client) -> None:
    for path in ("/", "/api/state", "/nothing", "/api/frames/x.jpg"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/api/frames/../journal.jsonl",
        "/api/frames/..%2f..%2fjournal.jsonl",
        "/api/frames/999.jpg",
        "/api/frames/%F0%9F%98%80.jpg",
        "/assets/..%2findex.html",
        "/assets/index.html.py",
        "/assets/" + "a" * 5000 + ".js",
        "/assets/%00.js",
        "/assets/%2e%2e",
        "/api/exports/journal.jsonl",
        "/docs",
        "/openapi.json",
    ],
)
def test_nothing_else_on_the_disk_is_served(client, path) -> None:
    assert client.get(path).status_code in (404, 422)


def test_a_frame_that_is_asked_for_can_be_looked_at(client, service) -> None:
    (frame,) = service.session.book.requests

    answer = client.get(f"/api/frames/{frame}.jpg")

    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.content[:2] == b"\xff\xd8"


def test_a_foreign_host_gets_nothing(client) -> None:
    answer = client.get("/api/state", headers={"host": "evil.example:8008"})

    assert (answer.status_code, "requests" in answer.text) == (403, False)


@pytest.mark.parametrize(
    "headers", [HOST, {**HOST, "origin": "http://evil.example"}, {**OURS, "host": "evil.example:8008"}]
)
def test_a_foreign_page_gets_no_socket(client, headers) -> None:
    with (
        client.websocket_connect("/api/socket", headers=headers) as socket,
        pytest.raises(WebSocketDisconnect) as closed,
    ):
        socket.receive_text()

    assert closed.value.code == 4403


def test_without_the_token_there_is_nothing_to_see(service) -> None:
    access = Access("192.168.1.5", PORT, "open-sesame")
    with TestClient(make_app(service, access), base_url=f"http://192.168.1.5:{PORT}", follow_redirects=False) as client:
        assert client.get("/api/state").status_code == 401
        assert client.get("/api/state?token=wrong").status_code == 401
        headers = {"host": f"192.168.1.5:{PORT}", "origin": f"http://192.168.1.5:{PORT}"}
        with (
            client.websocket_connect("/api/socket", headers=headers) as socket,
            pytest.raises(WebSocketDisconnect) as closed,
        ):
            socket.receive_text()
        assert closed.value.code == 4401

        welcome = client.get("/?token=open-sesame")
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/")
        assert "HttpOnly" in welcome.headers["set-cookie"]
        assert client.get("/api/state").status_code == 200
        with client.websocket_connect(
            "/api/socket", headers={**headers, "cookie": "leocod_token=open-sesame"}
        ) as socket:
            assert json.loads(socket.receive_text())["type"] == "state"


@pytest.mark.parametrize("token", ["x", "%E2%82%AC", "%0d%0aset-cookie:%20a=b", "%ff"])
def test_a_token_that_nobody_asked_for_changes_nothing(client, token) -> None:
    answer = client.get(f"/api/state?token={token}", follow_redirects=False)

    assert (answer.status_code, "set-cookie" in answer.headers) == (200, False)


def test_a_label_is_acknowledged_when_it_is_on_the_disk(client, service) -> None:
    (frame,) = service.session.book.requests
    drawn = [{"box": [5, 5, 30, 30], "name": "thimble"}]

    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        answer = ask(socket, type="label", id=1, frame=frame, objects=drawn, seconds=3.5, key="a")
        assert answer == {"type": "ack", "id": 1, "ok": True, "label": 1}
        assert '"thimble"' in service.session.journal.file.read_text()
        assert ask(socket, type="label", id=2, frame=frame, objects=drawn, key="a")["label"] == 1
        refused = ask(socket, type="label", id=3, frame=frame, objects=drawn, key="b")
        assert "wants no label any more" in refused["error"]
    assert client.get("/api/state").json()["counters"]["seconds"] == 3.5


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "no json", '{"type": "label", "id": 5}', '{"type": "undo", "id": 5, "label": "x"}', "[" * 50_000,
     '{"type": "rename", "id": 5, "name": "mug", "to": ""}', "\\u0000", "x" * 70_000],
)  # fmt: skip
def test_what_is_not_understood_is_refused_and_changes_nothing(client, service, text) -> None:
    before = service.session.journal.file.read_bytes()

    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        socket.send_text(text)
        while True:
            answer = json.loads(socket.receive_text())
            if answer["type"] == "ack":
                break
        assert answer["ok"] is False
        assert answer["id"] == (5 if '"id": 5' in text else None)
        assert ask(socket, type="pause", id=6)["ok"]

    assert service.session.journal.file.read_bytes() == before


def test_whoever_asks_too_fast_is_told_so(client, service) -> None:
    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        answers = [ask(socket, type="pause", id=number) for number in range(100)]

    assert [answer["id"] for answer in answers] == list(range(100))
    assert any("too fast" in answer.get("error", "") for answer in answers)


def test_a_picture_comes_and_the_next_one_only_when_it_was_shown(client, service) -> None:
    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        wait_for(lambda: service.pictures.viewers == 1)
        service.hand.frames.put(np.zeros((48, 64, 3), np.uint8))
        pictures: list[bytes] = []
        while not pictures:
            message = socket.receive()
            if message.get("bytes"):
                pictures.append(message["bytes"])
        length = int.from_bytes(pictures[0][:4], "big")
        header = json.loads(pictures[0][4 : 4 + length])
        assert header["size"] == [48, 64]

        service.hand.frames.put(np.zeros((48, 64, 3), np.uint8))
        wait_for(lambda: service.pictures.current.number == 2)
        assert ask(socket, type="pause", id=1)["ok"]
        socket.send_text(json.dumps({"type": "shown", "picture": header["picture"]}))
        while not (message := socket.receive()).get("bytes"):
            pass
        assert b'"picture":2' in message["bytes"]
    wait_for(lambda: service.pictures.viewers == 0)


def test_a_state_that_fails_once_is_told_the_next_time(client, service, monkeypatch) -> None:
    calls: list[int] = []

    def fail_once(service):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("dictionary changed size during iteration")
        return {"calls": len(calls)}

    monkeypatch.setattr("leocod.live.server.describe", fail_once)
    monkeypatch.setattr("leocod.live.server.STATE_EVERY", 0.01)
    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        told = [json.loads(socket.receive_text())["state"]["calls"] for _ in range(3)]

    assert told == [1, 3, 4]


def test_a_visit_that_fails_is_over_and_the_next_one_is_welcome(client, service, monkeypatch) -> None:
    async def fail(visit):
        await asyncio.sleep(0.01)
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("leocod.live.server.Visit._listen", fail)
        with (
            client.websocket_connect("/api/socket", headers=OURS) as socket,
            pytest.raises(WebSocketDisconnect) as closed,
        ):
            while True:
                socket.receive_text()
        assert closed.value.code == 1011
    wait_for(lambda: service.pictures.viewers == 0)
    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        assert ask(socket, type="pause", id=1)["ok"]


def test_a_full_disk_is_told_and_nothing_is_taken(client, service, monkeypatch) -> None:
    (frame,) = service.session.book.requests

    def fail(entry):
        raise OSError(28, "No space left on device", "journal.jsonl")

    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        with monkeypatch.context() as patch:
            patch.setattr(service.session.journal, "write", fail)
            refused = ask(socket, type="label", id=1, frame=frame, objects=[])
        assert refused["error"] == "The disk refuses it: No space left on device. Nothing was taken."
        assert ask(socket, type="label", id=2, frame=frame, objects=[])["label"] == 1


def test_a_mistake_of_ours_is_not_shown_to_the_visitor(client, service, monkeypatch) -> None:
    monkeypatch.setattr(service.session, "skip", lambda frame: 1 / 0)
    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        answer = ask(socket, type="skip", id=1, frame=3)

    assert answer["error"] == "leocod made a mistake; its log says more."
