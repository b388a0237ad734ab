"""Some damaged files for every reader, always the same ones; `make fuzz` tries many more."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest
from mutations import mutate
from work import Finding, generate_tries, run_try

from leocod.errors import InvalidData, LeocodError
from readers import READERS, Reader, make_seeds

TRIES = 25
FEWER = {"run-directory": 4, "checkpoint": 6}
"""Of readers that draw a page, or build a network."""


# Libraries warn of what is odd in a file; whether that is an error is not the question here.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
def test_a_damaged_file_is_read_or_refused_in_one_line(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "seeds").mkdir()
    seeds = make_seeds(reader, tmp_path / "seeds")
    count = FEWER.get(reader.name, TRIES)

    outcomes = [
        run_try(reader, files, tmp_path / "data") for _, files in islice(generate_tries(reader, seeds, 0), count)
    ]

    assert [outcome.text for outcome in outcomes if isinstance(outcome, Finding)] == []
    assert set(outcomes) <= {"read", "refused"}
    assert seeds


def raising(error: Exception) -> Reader:
    def act() -> None:
        raise error

    return Reader("raising", lambda folder: None, lambda folder: [act])


@pytest.mark.parametrize(
    ("error", "key"),
    [
        (KeyError("x"), "KeyError"),
        (MemoryError(), "MemoryError"),
        (InvalidData("{folder}: a\nb"), "not one printable line"),
        (InvalidData("{folder}" + "x" * 5000), "too long"),
        (InvalidData("something is wrong"), "names no file"),
    ],
)
def test_whatever_breaks_the_promise_is_found(error: Exception, key: str, tmp_path: Path) -> None:
    named = type(error)(*(text.format(folder=tmp_path / "data") for text in error.args))

    outcome = run_try(raising(named), {"a.json": b"{}"}, tmp_path / "data")

    assert isinstance(outcome, Finding)
    assert key in outcome.key


def test_a_refusal_that_names_the_file_in_one_line_is_no_finding(tmp_path: Path) -> None:
    refusal: LeocodError = InvalidData(f"{tmp_path / 'data' / 'a.json'} is bad.")

    assert run_try(raising(refusal), {"a.json": b"{}"}, tmp_path / "data") == "refused"


def test_a_try_is_known_by_its_seed_and_number() -> None:
    files = {"a.json": b'{"a": [1, 2, {"b": null}]}', "b.png": bytes(range(200))}

    first, again = (mutate(dict(files), Random("0 coco 7")) for _ in range(2))
    others = [mutate(dict(files), Random(f"0 coco {number}")) for number in range(20)]

    assert first == again
    assert len({str(sorted(one.items())) for one in others}) > 15
