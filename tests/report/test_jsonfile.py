"""A file of a run is read up to a limit, in one form, from inside the run; what is wrong with it is one line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from leocod.errors import InvalidRun
from leocod.report.jsonfile import DEEPEST, inside, legible, read_json, read_lines, read_text


def a_file(folder: Path, content: bytes, name: str = "a.json") -> Path:
    file = folder / name
    file.write_bytes(content)
    return file


def values(file: Path) -> list[object]:
    return [value for _, value in read_lines(file, file.parent, largest=1000, longest=100)]


def test_letters_of_every_script_stay_and_what_cannot_be_shown_is_written_out() -> None:
    for name in ("mug", "עברית", "हिन्दी", "👩\u200d🍳", "a\u00a0b", "漢字"):
        assert legible(name) == name

    assert legible("a\nb\0\x1b\u202e\ud800\uffff\x85") == r"a\nb\x00\x1b\u202e\ud800\uffff\x85"
    assert legible("a\nb\tc\0", keep="\n\t") == "a\nb\tc\\x00"


def test_texts_and_keys_are_legible_wherever_they_stand(tmp_path: Path) -> None:
    file = a_file(tmp_path, rb'{"a\u0000": ["b\ud800", {"c": "d\n"}, 1, null]}')

    assert read_json(file, tmp_path, largest=1000) == {r"a\x00": [r"b\ud800", {"c": r"d\n"}, 1, None]}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{\n", r"\(line 2: Expecting"),
        (b"\xff", r"\(byte 0 is not UTF-8\)"),
        (b"9" * 1001, r"\(more than 1000 bytes\)"),
        (b"[" * 500 + b"]" * 500, r"\(more than 40 levels within one another\)"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), r"\(more than 40 levels within one another\)"),
        (b"", r"cannot be read \(the file is empty\)"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_with_the_file(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = a_file(tmp_path, content)

    with pytest.raises(InvalidRun, match=complaint) as caught:
        read_json(file, tmp_path, largest=1000)
    assert str(file) in str(caught.value)
    assert str(caught.value).isprintable()


def test_what_is_just_within_the_limits_is_read(tmp_path: Path) -> None:
    many, deep = a_file(tmp_path, b"9" * 1000), a_file(tmp_path, b"[" * DEEPEST + b"]" * DEEPEST, "deep.json")

    assert read_json(many, tmp_path, largest=1000) == int("9" * 1000)
    assert str(read_json(deep, tmp_path, largest=1000)).count("[") == DEEPEST


@pytest.mark.parametrize("content", [b"[" * 200_000, b"9" * 5000, b'{"a":' * 100_000])
def test_neither_depth_nor_digits_are_too_much(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidRun, match=r"a\.json cannot be read"):
        read_json(a_file(tmp_path, content), tmp_path, largest=10**6)


def test_a_text_keeps_its_lines(tmp_path: Path) -> None:
    file = a_file(tmp_path, b"a:\r\n\tb\x00\n")

    assert read_text(file, tmp_path, largest=100) == "a:\n\tb\\x00\n"
    with pytest.raises(InvalidRun, match="more than 3 bytes"):
        read_text(file, tmp_path, largest=3)


@pytest.mark.parametrize("cut", [b'{"b": 2', b'{"b"\xc3', b"\0\0\0", b"{"])
def test_a_last_line_that_was_cut_off_is_not_there(tmp_path: Path, cut: bytes) -> None:
    assert values(a_file(tmp_path, b'{"a": 1}\n\n' + cut)) == [{"a": 1}]


def test_a_last_line_that_only_lacks_its_end_is_there(tmp_path: Path) -> None:
    assert values(a_file(tmp_path, b'{"a": 1}\n{"b": 2}')) == [{"a": 1}, {"b": 2}]


def test_a_broken_line_before_the_last_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"a\.json cannot be read \(line 2: Expecting"):
        values(a_file(tmp_path, b'{"a": 1}\n{"b"\n{"c": 3}\n'))
    with pytest.raises(InvalidRun, match=r"\(line 1: more than 100 bytes\)"):
        values(a_file(tmp_path, b"1" * 101))
    with pytest.raises(InvalidRun, match=r"\(line 21: more than 1000 bytes\)"):
        values(a_file(tmp_path, (b"1" * 49 + b"\n") * 21))


def test_packed_lines_are_read_and_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    packed = a_file(tmp_path, gzip.compress(b'{"a": 1}\n'), "a.jsonl.gz")
    bomb = a_file(tmp_path, gzip.compress(b" " * 10_000_000), "bomb.jsonl.gz")
    cut = a_file(tmp_path, gzip.compress(b'{"a": 1}\n' * 100)[:-9], "cut.jsonl.gz")

    assert values(packed) == [{"a": 1}]
    with pytest.raises(InvalidRun, match=r"bomb\.jsonl\.gz cannot be read \(line 1: more than 100 bytes\)"):
        values(bomb)
    with pytest.raises(InvalidRun, match=r"cut\.jsonl\.gz cannot be read"):
        values(cut)


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
    assert not inside(home / "nul\0", home)


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"none\.json is missing"):
        read_json(tmp_path / "none.json", tmp_path, largest=1000)
    with pytest.raises(InvalidRun, match=r"cannot be read \(not a file\)"):
        read_json(tmp_path, tmp_path, largest=1000)
