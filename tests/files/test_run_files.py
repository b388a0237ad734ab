"""A file of a run is read from inside the run only, and every text in it can be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.errors import InvalidRun
from leocod.files.run_files import make_damage_error, make_legible, read_json, read_lines, read_text


def a_file(folder: Path, content: bytes, name: str = "a.json") -> Path:
    file = folder / name
    file.write_bytes(content)
    return file


def test_letters_of_every_script_stay_and_what_cannot_be_shown_is_written_out() -> None:
    for name in ("mug", "עברית", "हिन्दी", "👩\u200d🍳", "a\u00a0b", "漢字"):
        assert make_legible(name) == name

    assert make_legible("a\nb\0\x1b\u202e\ud800\uffff\x85") == r"a\nb\x00\x1b\u202e\ud800\uffff\x85"
    assert make_legible("a\nb\tc\0", keep="\n\t") == "a\nb\tc\\x00"


def test_texts_and_keys_are_legible_wherever_they_stand(tmp_path: Path) -> None:
    file = a_file(tmp_path, rb'{"a\u0000": ["b\ud800", {"c": "d\n"}, 1, null]}')

    assert read_json(file, tmp_path, largest=1000) == {r"a\x00": [r"b\ud800", {"c": r"d\n"}, 1, None]}


def test_the_texts_of_lines_are_legible(tmp_path: Path) -> None:
    file = a_file(tmp_path, b'{"a": 1}\n"b\\u0000"\n')

    assert list(read_lines(file, tmp_path, largest=1000, longest=100)) == [(1, {"a": 1}), (2, r"b\x00")]


def test_damage_is_told_with_the_file_and_the_cure(tmp_path: Path) -> None:
    assert str(make_damage_error(tmp_path / "a\nb", "no\nevent")) == (
        rf"{tmp_path}/a\nb cannot be read (no\nevent). Restore it from a backup, or run again into a new directory."
    )


def test_a_text_keeps_its_lines(tmp_path: Path) -> None:
    file = a_file(tmp_path, b"a:\r\n\tb\x00\n")

    assert read_text(file, tmp_path, largest=100) == "a:\n\tb\\x00\n"
    with pytest.raises(InvalidRun, match="more than 3 bytes"):
        read_text(file, tmp_path, largest=3)


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    home = tmp_path / "run"
    home.mkdir()
    secret = a_file(tmp_path, b'"secret"', "secret.json")
    (home / "a.json").symlink_to(secret)
    (home / "b.json").symlink_to("b.json")
    (home / "real.json").write_bytes(b"1")
    (home / "c.json").symlink_to("real.json")

    for name in ("a.json", "b.json", "../secret.json"):
        with pytest.raises(InvalidRun, match="leads out of the run directory"):
            read_json(home / name, home, largest=1000)
    assert read_json(home / "c.json", home, largest=1000) == 1
    with pytest.raises(InvalidRun, match="leads out of the run directory"):
        list(read_lines(home / "a.json", home, largest=1000, longest=100))
    with pytest.raises(InvalidRun, match="leads out of the run directory"):
        read_text(home / "a.json", home, largest=1000)


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"none\.json is missing"):
        read_json(tmp_path / "none.json", tmp_path, largest=1000)
    with pytest.raises(InvalidRun, match=r"cannot be read \(not a file\)"):
        read_json(tmp_path, tmp_path, largest=1000)
