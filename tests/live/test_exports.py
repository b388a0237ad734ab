"""The detector of a live run as a file."""

from __future__ import annotations

from tests.live.serving import OURS, ask


def test_the_detector_is_exported_and_can_be_fetched(client, service, person) -> None:
    person.show(service.session, 2)
    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        exported = ask(socket, type="export", id=3, format="safetensors")
        assert exported == {"type": "ack", "id": 3, "ok": True, "file": "detector.safetensors"}

    assert len(client.get("/api/exports/detector.safetensors").content) > 10**5
