"""Whatever is wrong with a run directory, it is read, or refused in one line; never anything else."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import pytest

from leocod.errors import InvalidRun
from leocod.evaluation.metrics.base import compute_metrics, find_metrics, list_shipped
from leocod.report.history import read_history
from leocod.report.kinds import group_runs
from leocod.report.page import format_yaml
from leocod.report.pictures import make_pictures
from leocod.report.reading import Run
from leocod.report.report import describe_kind, list_metrics
from leocod.report.sections import show_errors
from leocod.report.tables import list_class_rows, list_memory_rows

TRIES = 200
FILES = (
    *("results.json", "memory.json", "environment.json", "samples/samples.json", "events.jsonl", "config.yaml"),
    *("test.json", "detections/step_00059.json"),
)
ODD = (
    *(
        "null",
        "true",
        "-1",
        "0",
        "1e308",
        "1e999",
        "NaN",
        "-Infinity",
        str(2**63),
        "9" * 5000,
        '""',
        '"mug"',
        "[]",
        "{}",
    ),
    *('"\\u0000"', '"\\ud800"', '"\\u202e<script>"', '"../../../etc/passwd"', '"/dev/zero"', "[[]]", '{"": null}'),
    *("[" * 9000 + "]" * 9000, '{"a": ' * 9000 + "1" + "}" * 9000, "1000000000", '"' + "a" * 20_000 + '"', "0.5"),
)
"""Values that nobody expects, as they stand in a file."""


def damaged(text: str, random: Random) -> bytes:
    """One thing wrong: a byte, the end, or, of JSON, a value."""
    content = text.encode()
    kind = random.randrange(4)
    if kind == 0:
        place = random.randrange(len(content))
        return content[:place] + random.randbytes(random.choice((0, 1, 3))) + content[place + 1 :]
    if kind == 1:
        return content[: random.randrange(len(content))]
    lines = text.splitlines() if kind == 2 else [text]
    number = random.randrange(len(lines))
    try:
        tree = [json.loads(lines[number])]
    except ValueError:
        return content.replace(b"0", random.choice(ODD).encode(), 1)
    holder, key = random.choice(places(tree))
    holder[key] = "HERE"
    lines[number] = json.dumps(tree[0]).replace('"HERE"', random.choice(ODD))
    return "\n".join(lines).encode()


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every value: what it is in, and under which key."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    found = [(tree, key) for key, _ in pairs]
    return found + [
        place for holder, key in found if isinstance(holder[key], dict | list) for place in places(holder[key])
    ]


def complaint(path: Path) -> str | None:
    """What is said of a run; None when everything that a page asks for is there. Nothing is drawn."""
    try:
        use(path)
    except InvalidRun as error:
        return str(error)
    return None


def use(path: Path) -> None:
    run = Run.load(path)
    shown = [
        describe_kind(*group_runs([run])),
        format_yaml(dict(run.environment)),
        run.name,
        run.command or "",
        run.config,
        *run.classes,
    ]
    shown += [
        str(list_class_rows(run)),
        str(list_memory_rows([run])),
        *(str(make_pictures(run, kind)) for kind in ("test", "memory")),
    ]
    shown += [str(list_metrics([run])), str(show_errors(group_runs([run])))]
    "".join(shown).encode()
    json.dumps(compute_metrics(find_metrics(list_shipped()), read_history(path)), allow_nan=False)


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_run_is_read_or_refused_in_one_line(whole_run: Path, tmp_path: Path, seed: int) -> None:
    random, refused = Random(seed), 0
    path = copytree(whole_run, tmp_path / "run")
    texts = {name: (path / name).read_text() for name in FILES}

    for _ in range(TRIES // 4):
        name = random.choice(FILES)
        (path / name).write_bytes(damaged(texts[name], random))
        said = complaint(path)
        if said is not None:
            refused += 1
            assert said.isprintable()
            assert len(said) < 1000
            assert str(path) in said
        (path / name).write_text(texts[name])

    # Both are tried: what is always refused, or always read, shows nothing.
    assert 5 < refused < TRIES // 4 - 5
