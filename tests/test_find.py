from pathlib import Path
from typing import Any

import pytest

from leocod.benchmarks.base import BENCHMARKS
from leocod.detectors.base import DETECTORS
from leocod.errors import InvalidConfig, UnknownName
from leocod.find import Kind
from leocod.strategies.base import STRATEGIES
from leocod.strategies.icarl import ICaRL
from leocod.strategies.incremental import Incremental


def test_names_are_the_files_of_the_folder() -> None:
    assert {"icarl", "incremental", "offline"} <= set(STRATEGIES.names())
    assert "wander" in BENCHMARKS.names()
    assert "tiny" in DETECTORS.names()
    assert not {"base", "base_replay", "__init__"} & {*STRATEGIES.names(), *BENCHMARKS.names(), *DETECTORS.names()}


def test_a_plain_name_is_the_class_in_the_file_of_that_name() -> None:
    assert STRATEGIES.find("icarl") is ICaRL


def test_a_class_that_inherits_its_options_is_found_too() -> None:
    assert STRATEGIES.find("incremental") is Incremental


@pytest.mark.parametrize("kind", [BENCHMARKS, DETECTORS, STRATEGIES], ids=lambda kind: kind.name)
def test_every_name_leads_to_a_class_with_options(kind: Kind[Any]) -> None:
    for name in kind.names():
        assert kind.find(name).Options.model_fields is not None


def test_module_and_class_lead_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "from leocod.strategies.base import Strategy\nclass Mine(Strategy):\n    '''My own.'''\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert STRATEGIES.find("mine:Mine").__name__ == "Mine"
    with pytest.raises(UnknownName, match="'Mein'. Did you mean 'Mine'"):
        STRATEGIES.find("mine:Mein")


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="No strategy 'icral'. Did you mean 'icarl'"):
        STRATEGIES.find("icral")


@pytest.mark.parametrize(
    "name",
    [
        "no_such_module:Strategy",
        "no.such.module:Strategy",
        ":Strategy",
        "..x:A",
        ".os:A",
        "a/b:C",
        "os.:A",
        "os.path.x:A",
    ],
)
def test_a_module_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(InvalidConfig, match="No module"):
        STRATEGIES.find(name)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("os:", "is not module:Class"),
        (":", "is not module:Class"),
        ("a:b:c", "is not module:Class"),
        ("leocod.strategies.base:Strategy.__init__", "is not module:Class"),
        ("os:system", "No class with Options in module os 'system'"),
        ("leocod.strategies.icarl:ICaRLOptions", "No class with Options in module leocod.strategies.icarl"),
        ("leocod.benchmarks.wander:Wander", "is not a strategy: it has no `learn`"),
        ("../icarl", "No strategy '../icarl'"),
        ("icarl\0", r"'icarl\x00' cannot be the name of a strategy"),
        ("two\nlines:C", r"'two\nlines:C' cannot be the name of a strategy"),
        ("x" * 10_000, "cannot be the name of a strategy"),
        ("", "No strategy ''"),
    ],
)
def test_a_name_that_leads_to_no_strategy_is_told_in_one_short_line(name: str, complaint: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        STRATEGIES.find(name)

    assert complaint in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_nothing_is_imported_for_a_name_that_cannot_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ran.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path)

    for name in ("ran:A.b", "ran:", "ran:a:b", "ran/:A"):
        with pytest.raises(InvalidConfig):
            STRATEGIES.find(name)


def test_a_module_that_lies_in_the_folder_is_pointed_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lies_here.py").write_text("")

    with pytest.raises(InvalidConfig, match=r"No module 'lies_here' .* It is in this folder: set PYTHONPATH=\."):
        STRATEGIES.find("lies_here:Mine")
