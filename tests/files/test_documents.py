"""A document of any kind is read within its limits, or refused in one line with the error of its kind."""

from __future__ import annotations

import errno
import gzip
import math
import os
import threading
from pathlib import Path

import pytest

from leocod.errors import InvalidConfig, InvalidData, InvalidRun
from leocod.files.documents import CONFIG, DATA, DEEPEST, LARGEST, RUN, Documents, parse_json, parse_mapping, read_yaml


def test_json_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes('{"é": [1, 2.5]}'.encode())
    (tmp_path / "b.json").write_bytes('{"é": [1, 2.5]}'.encode("utf-8-sig"))

    assert DATA.read_json(tmp_path / "a.json") == DATA.read_json(tmp_path / "b.json") == {"é": [1, 2.5]}


def test_numbers_that_are_no_json_are_left_to_whoever_uses_them(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[NaN, -Infinity]")

    found = DATA.read_json(tmp_path / "a.json")

    assert math.isnan(found[0])
    assert found[1] == -math.inf


@pytest.mark.parametrize("kind", [CONFIG, DATA, RUN], ids=lambda kind: kind.error.__name__)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"images": [{"id": 1}, {"i', r"\(line 1, column 25: Unterminated"),
        (b"{\n", r"\(line 2, column 1: Expecting"),
        (b"[" * 100_000, rf"\(more than {DEEPEST} levels within one another\)"),
        (b"[" * 500 + b"]" * 500, rf"\(more than {DEEPEST} levels"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), rf"\(more than {DEEPEST} levels"),
        (b'{"a":' * 30_000, rf"\(more than {DEEPEST} levels"),
        (b"9" * 5_000, r"\(a number of more than \d+ digits\)"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', r"\(the key 'b' is there twice in an object\)"),
        (b'{"name": "caf\xe9"}', r"\(byte 13 is not UTF-8\)"),
        (b"", r"\(the file is empty\)"),
        (b"9" * 200_001, r"has more than 200000 bytes\. Make it smaller\."),
    ],
)
def test_damage_is_told_in_one_line_that_names_the_file(
    tmp_path: Path, kind: Documents, content: bytes, said: str
) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    if not content and kind.may_be_empty:
        said = "line 1, column 1: Expecting value"

    with pytest.raises(kind.error, match=rf"bad\.json.*{said}") as caught:
        kind.read_json(tmp_path / "bad.json", largest=200_000)

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_what_is_just_within_the_limits_is_read(tmp_path: Path) -> None:
    (tmp_path / "many.json").write_text("9" * 1000)
    (tmp_path / "deep.json").write_text("[" * DEEPEST + "]" * DEEPEST)

    assert DATA.read_json(tmp_path / "many.json", largest=1000) == int("9" * 1000)
    assert str(DATA.read_json(tmp_path / "deep.json")).count("[") == DEEPEST


def test_a_repeated_key_among_very_many_is_found_at_once() -> None:
    keys = ", ".join(f'"{number}": 0' for number in range(100_000))

    with pytest.raises(ValueError, match="the key '7' is there twice"):
        parse_json(f'{{{keys}, "7": 1}}')


def test_the_lines_of_a_part_of_a_file_are_counted_from_its_first() -> None:
    with pytest.raises(ValueError, match=r"^line 8, column 1: Expecting"):
        parse_json("[\n", line=7)
    with pytest.raises(ValueError, match=r"^line 7: the key 'a' is there twice"):
        parse_json('{"a": 1, "a": 2}', line=7)


def test_each_kind_has_its_cure_for_a_missing_and_for_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")

    for kind, missing, cure in (
        (CONFIG, "No config file '.*none'", "A config is a text file"),
        (DATA, "none: no such file. Check the name", "copy or write it again"),
        (RUN, "none is missing. Give the directory of a run that has finished", "Restore it from a backup"),
    ):
        with pytest.raises(kind.error, match=missing):
            kind.read_json(tmp_path / "none")
        with pytest.raises(kind.error, match=cure):
            kind.read_json(tmp_path / "bad.json")


def test_a_file_without_read_permission_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("1")

    # As root, which may read everything, no mode of the file would do.
    def refuse(file: Path, mode: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(InvalidData, match=r"a\.json cannot be read .*Check read permission\."):
        DATA.read_json(tmp_path / "a.json")


def test_only_a_config_may_come_from_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InvalidData, match=r"pipe cannot be read \(not a file\)"):
        DATA.read_json(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("seed: 3\n",))
    writer.start()
    assert read_yaml(tmp_path / "pipe") == {"seed": 3}
    writer.join()


def values(folder: Path, content: bytes, name: str = "a.jsonl") -> list[object]:
    (folder / name).write_bytes(content)
    return [value for _, value in RUN.read_json_lines(folder / name, largest=1000, longest=100)]


@pytest.mark.parametrize("cut", [b'{"b": 2', b'{"b"\xc3', b"\0\0\0", b"{"])
def test_a_last_line_that_was_cut_off_is_not_there(tmp_path: Path, cut: bytes) -> None:
    assert values(tmp_path, b'{"a": 1}\n\n' + cut) == [{"a": 1}]


def test_a_last_line_that_only_lacks_its_end_is_there(tmp_path: Path) -> None:
    assert values(tmp_path, b'{"a": 1}\n{"b": 2}') == [{"a": 1}, {"b": 2}]


def test_a_broken_line_before_the_last_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"a\.jsonl cannot be read \(line 2, column 5: Expecting"):
        values(tmp_path, b'{"a": 1}\n{"b"\n{"c": 3}\n')
    with pytest.raises(InvalidRun, match=r"\(line 1: more than 100 bytes\)"):
        values(tmp_path, b"1" * 101)
    with pytest.raises(InvalidRun, match=r"\(line 21: more than 1000 bytes\)"):
        values(tmp_path, (b"1" * 49 + b"\n") * 21)


def test_packed_lines_are_read_and_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    cut = gzip.compress(b'{"a": 1}\n' * 100)[:-9]

    assert values(tmp_path, gzip.compress(b'{"a": 1}\n'), "a.jsonl.gz") == [{"a": 1}]
    with pytest.raises(InvalidRun, match=r"bomb\.jsonl\.gz cannot be read \(line 1: more than 100 bytes\)"):
        values(tmp_path, gzip.compress(b" " * 10_000_000), "bomb.jsonl.gz")
    with pytest.raises(InvalidRun, match=r"cut\.jsonl\.gz cannot be read"):
        values(tmp_path, cut, "cut.jsonl.gz")


def test_columns_are_taken_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('b,c,a\n1,2,3\n\n4,5,"6,7"\n')

    assert DATA.read_csv(tmp_path / "a.csv", ("a", "b")) == [(2, ("3", "1")), (4, ("6,7", "4"))]


def test_a_row_over_several_lines_is_called_by_its_first(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a\n"x\ny"\nz\n')

    assert DATA.read_csv(tmp_path / "a.csv", ("a",)) == [(2, ("x\ny",)), (4, ("z",))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,c\n1,2\n", "no column 'b'. It has a, c"),
        ("a,b\n1,2\n3\n", "line 3: 1 values, but 2"),
        ('a,"c\nd"\n1,2\n', r"It has a, c\\nd\."),
        (f"a,{'c' * 9000}\n1,2\n", r"It has a, c{194}\.\.\.\.$"),
    ],
)
def test_a_wrong_list_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.csv").write_text(text)

    with pytest.raises(InvalidData, match=rf"a\.csv.*{said}"):
        DATA.read_csv(tmp_path / "a.csv", ("a", "b"))


@pytest.mark.parametrize("text", ["- 1", "word", "1: 2", "null: 3"])
def test_a_whole_that_has_no_names_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match="f must hold keys with values"):
        parse_mapping(text, "f")


def test_an_empty_text_holds_nothing() -> None:
    assert parse_mapping("# nothing\n", "f") == {}


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_bytes(b"a: 1\n" + b"#" * LARGEST)

    with pytest.raises(InvalidConfig, match=rf"large\.yaml has more than {LARGEST} bytes"):
        read_yaml(file)


def test_a_file_that_cannot_be_read_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "two\nlines.yaml").write_bytes(b"\xff")

    for name, complaint in {
        "none": "No config file '.*none'",
        ".": "cannot be read",
        "two\nlines.yaml": r"two\\nlines\.yaml cannot be read \(byte 0 is not UTF-8\)",
        "nul\0": r"nul\\x00 cannot be read",
    }.items():
        with pytest.raises(InvalidConfig, match=complaint) as caught:
            read_yaml(tmp_path / name)
        assert str(caught.value).isprintable()
