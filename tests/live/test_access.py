"""Who may talk to the server, and who may not."""

from __future__ import annotations

import pytest

from leocod.live.access import COOKIE, Access, Rate, is_loopback

HERE = Access("127.0.0.1", 8008, None)
OPEN = Access("0.0.0.0", 8008, "secret-token")


@pytest.mark.parametrize("host", ["127.0.0.1:8008", "localhost:8008", "LOCALHOST:8008", "[::1]:8008", "127.8.9.1:8008"])
def test_this_machine_is_welcome(host: str) -> None:
    assert HERE.refuse({"host": host}, has_origin=False) is None
    assert HERE.refuse({"host": host, "origin": f"http://{host}"}, has_origin=True) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8008",
        "127.0.0.1",
        "127.0.0.1:80",
        "",
        "127.0.0.1.evil.example:8008",
        "a@127.0.0.1:8008",
        "[::1",
        ":8008",
        "[::1]evil.example:8008",
        "127.0.0.1:8008:80",
        "127.0.0.1:8008/",
        "127.0.0.1:8008@evil.example",
        "127.0.0.1:+8008",
        "127.0.0.1:\u0668008",
        "127.0.0.1:8008\n",
    ],
)
def test_a_foreign_host_is_refused(host: str) -> None:
    assert HERE.refuse({"host": host}, has_origin=False)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:8008",
        "http://127.0.0.1:8009",
        "http://localhost:8008",
        "",
        "http://[",
    ],
)
def test_a_foreign_origin_is_refused(origin: str) -> None:
    assert HERE.refuse({"host": "127.0.0.1:8008", "origin": origin}, has_origin=True)
    assert HERE.refuse({"host": "127.0.0.1:8008", "origin": origin}, has_origin=False)


def test_a_socket_must_say_where_it_comes_from() -> None:
    assert HERE.refuse({"host": "127.0.0.1:8008"}, has_origin=True)


def test_an_address_that_others_can_reach_needs_a_token() -> None:
    assert Access.at("127.0.0.1", 1).token is None
    assert Access.at("::1", 1).token is None
    assert Access.at("0.0.0.0", 1).token
    assert Access.at("192.168.1.5", 1).token != Access.at("192.168.1.5", 1).token


@pytest.mark.parametrize("given", [None, "", "secret", "secret-token2", "SECRET-TOKEN"])
def test_a_wrong_token_gets_nothing(given: str | None) -> None:
    assert not OPEN.knows({}, given)
    assert not OPEN.knows({"cookie": f"{COOKIE}={given}"})
    assert not OPEN.knows({"cookie": "\x00;;=;"}, given)


def test_the_token_is_known_from_the_address_or_the_cookie() -> None:
    assert OPEN.knows({}, "secret-token")
    assert OPEN.knows({"cookie": f"other=1; {COOKIE}=secret-token"})
    assert OPEN.link.endswith("/?token=secret-token")
    assert HERE.link == "http://127.0.0.1:8008/"


def test_a_name_that_could_be_made_to_point_here_is_no_host() -> None:
    assert OPEN.refuse({"host": "192.168.1.5:8008"}, has_origin=False) is None
    assert OPEN.refuse({"host": "evil.example:8008"}, has_origin=False)


@pytest.mark.parametrize(
    ("address", "is_one"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("x", False)],
)
def test_loopback(address: str, is_one: bool) -> None:
    assert is_loopback(address) == is_one


def test_a_rate_allows_a_burst_and_then_so_many_a_second() -> None:
    rate = Rate(2, burst=3)

    assert [rate.allows(100.0) for _ in range(4)] == [True, True, True, False]
    assert rate.allows(100.6)
    assert not rate.allows(100.7)
