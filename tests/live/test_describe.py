"""What the page is told."""

from __future__ import annotations


def test_the_state_is_as_the_contract_says(client, service) -> None:
    state = client.get("/api/state").json()

    assert state["status"] == "learning"
    assert [one["frame"] for one in state["requests"]] == list(service.session.book.requests)
    assert set(state["counters"]) == {
        "frames_seen", "frames_dropped", "steps_seen", "steps_learned", "steps_dropped", "steps_waiting", "labels",
        "boxes", "seconds", "step_seconds", "lag", "memory_bytes", "memory_frames",
    }  # fmt: skip
