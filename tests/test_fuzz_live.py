"""Some nonsense for the server of a live run, always the same; `make fuzz` tries 10,000 pieces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from live_messages import DAMAGES, LONGEST, damage_message, is_message, list_impossible, list_messages
from live_requests import damage_request, make_foreign, make_strange_token
from pydantic import ValidationError

from leocod.live.messages import PAGE_MESSAGE
from leocod.live.server import LONGEST_MESSAGE

FUZZ = Path(__file__).parents[1] / "fuzz"
MESSAGES = list_messages(frame=5, label=2, remembered=3)


def is_taken(payload: bytes) -> bool:
    """Whether the server would do it."""
    try:
        PAGE_MESSAGE.validate_json(payload.decode())
    except (UnicodeDecodeError, ValidationError):
        return False
    return len(payload.decode()) <= LONGEST_MESSAGE


@pytest.mark.parametrize("message", [*MESSAGES, *list_impossible(5)], ids=lambda message: message["type"])
def test_what_a_page_says_is_understood(message) -> None:
    payload = json.dumps(message).encode()

    assert is_message(payload)
    assert is_taken(payload)


def test_two_readers_of_the_contract_agree_on_what_is_damaged() -> None:
    assert LONGEST == LONGEST_MESSAGE
    outcomes = set()
    for number in range(1500):
        random = Random(number)
        payload = json.dumps(random.choice(MESSAGES)).encode()
        for _ in range(random.choice((1, 1, 2))):
            payload = random.choice(DAMAGES)(payload, random)
        assert is_message(payload) == is_taken(payload), payload[:500]
        outcomes.add(is_message(payload))
    assert outcomes == {True, False}


def test_a_try_is_known_by_its_seed_and_number() -> None:
    first, again = (
        [
            (damage_message(MESSAGES, random), damage_request(8008, 5, random), make_foreign(8008, random))
            for random in map(Random, range(50))
        ]
        for _ in range(2)
    )

    assert first == again
    assert len({str(one) for one in first}) == 50
    assert all(make_strange_token("Ab-9", Random(number)) != "Ab-9" for number in range(200))


@pytest.mark.slow
def test_nonsense_changes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FUZZ / "live.py"), "--tries", "150", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "live.json").read_text())
    assert (figures["tries"], figures["findings"]) == (150, [])
    assert all(kind["tries"] for kind in figures["kinds"].values())
