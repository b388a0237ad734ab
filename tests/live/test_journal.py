"""The journal: nothing that was taken is lost, and nothing that was not taken is believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.errors import InvalidRun
from leocod.live.journal import Journal


def test_entries_are_read_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert [journal.write({"kind": "skip", "frame": number}) for number in range(3)] == [0, 1, 2]
    journal.close()

    again = Journal(tmp_path / "journal.jsonl")

    assert [entry["frame"] for entry in again.read()] == [0, 1, 2]
    assert again.write({"kind": "skip", "frame": 3}) == 3


@pytest.mark.parametrize("rest", [b"{", b'{"kind": "label"', b'{"kind":"skip","frame":9}'])
def test_a_half_written_last_line_is_cut_off(tmp_path: Path, rest: bytes) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(b'{"kind":"skip","frame":1}\n' + rest)

    journal = Journal(file)

    assert [entry["frame"] for entry in journal.read()] == [1]
    journal.write({"kind": "skip", "frame": 2})
    assert [entry["frame"] for entry in Journal(file).read()] == [1, 2]


@pytest.mark.parametrize("line", [b"no json", b"[1]", b'{"step": 1}', b'{"kind": 3}', b"\xff\xfe", b"[" * 100_000])
def test_damage_in_the_middle_names_the_line(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(b'{"kind":"skip","frame":1}\n' + line + b"\n")

    with pytest.raises(InvalidRun, match=r"journal.jsonl, line 2: .*Restore the file"):
        list(Journal(file).read())


def test_an_entry_that_did_not_reach_the_disk_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write({"kind": "skip", "frame": 1})

    def fail(file: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("leocod.live.journal.os.fsync", fail)
        with pytest.raises(OSError, match="Input/output"):
            journal.write({"kind": "skip", "frame": 2})

    assert journal.write({"kind": "skip", "frame": 3}) == 1
    assert [entry["frame"] for entry in Journal(tmp_path / "journal.jsonl").read()] == [1, 3]


def test_a_number_that_is_none_is_never_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")

    with pytest.raises(ValueError, match="JSON"):
        journal.write({"kind": "label", "seconds": float("nan")})

    assert list(Journal(tmp_path / "journal.jsonl").read()) == []
