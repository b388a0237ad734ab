"""What each command of the page does."""

from __future__ import annotations

from tests.live.serving import OURS, ask


def test_every_command_is_done(client, service, person) -> None:
    (frame,) = service.session.book.requests
    with client.websocket_connect("/api/socket", headers=OURS) as socket:
        objects = [{"box": list(one.box), "name": one.name} for one in person.look(frame)]
        assert ask(socket, type="label", id=1, frame=frame, objects=objects)["ok"]
        service.submit(lambda: person.show(service.session, 2)).result(60)
        remembered = service.session.remembered[0][0]
        assert ask(socket, type="pin", id=2, frame=remembered, pinned=True)["ok"]
        assert ask(socket, type="rename", id=3, name="mug", to="cup")["ok"]
        assert ask(socket, type="merge", id=4, name="cup", into="book")["ok"]
        assert ask(socket, type="pause", id=5)["ok"]
        assert service.paused
        assert ask(socket, type="resume", id=6)["ok"]
        assert ask(socket, type="checkpoint", id=7)["ok"]
        assert ask(socket, type="forget", id=8, frame=remembered)["ok"]
        assert "taken back" in ask(socket, type="undo", id=9)["done"]
        (asked, *_) = service.session.book.requests
        assert ask(socket, type="skip", id=10, frame=asked)["ok"]
        assert ask(socket, type="undo", id=11, label=999)["error"] == "There is no such label to take back."
