from __future__ import annotations

from pathlib import Path

import pytest

from leocod.data.output import open_output
from leocod.errors import InvalidConfig, InvalidData


def test_a_folder_appears_when_it_is_complete_and_not_after_an_error(tmp_path: Path) -> None:
    with open_output(tmp_path / "out") as folder:
        (folder / "a.txt").write_text("a")
        assert not (tmp_path / "out").exists()
    with pytest.raises(RuntimeError), open_output(tmp_path / "other") as folder:
        (folder / "a.txt").write_text("a")
        raise RuntimeError

    assert [file.name for file in tmp_path.rglob("*")] == ["out", "a.txt"]


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("mine")

    with pytest.raises(InvalidConfig, match="mine is already there"), open_output(tmp_path / "mine"):
        pass
    with open_output(tmp_path / "empty") as folder:
        (folder / "b.txt").write_text("b")

    assert (tmp_path / "mine" / "a.txt").read_text() == "mine"


def test_an_error_of_the_disk_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(InvalidData, match="file"), open_output(tmp_path / "file" / "out"):
        pass
