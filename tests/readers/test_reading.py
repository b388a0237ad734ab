"""JSON and CSV files: what is in them, or one line that says what is wrong."""

from __future__ import annotations

import math

import pytest

from leocod.errors import InvalidData
from leocod.readers.reading import read_json, read_rows


def test_json_is_read_with_and_without_a_byte_order_mark(tmp_path):
    (tmp_path / "a.json").write_bytes('{"é": [1, 2.5]}'.encode())
    (tmp_path / "b.json").write_bytes('{"é": [1, 2.5]}'.encode("utf-8-sig"))

    assert read_json(tmp_path / "a.json") == read_json(tmp_path / "b.json") == {"é": [1, 2.5]}


def test_numbers_that_are_no_json_are_left_to_whoever_uses_them(tmp_path):
    (tmp_path / "a.json").write_text("[NaN, -Infinity]")

    found = read_json(tmp_path / "a.json")

    assert math.isnan(found[0])
    assert found[1] == -math.inf


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"images": [{"id": 1}, {"i', r"not readable JSON \(.*Is it whole\?"),
        (b"[" * 100_000, "too deep to read"),
        (b"9" * 5_000, "not readable JSON"),
        (b'{"name": "caf\xe9"}', r"not UTF-8 text \(byte 13\)"),
        (b"", "the file is empty"),
    ],
)
def test_damage_is_told_in_one_line_that_names_the_file(tmp_path, content, said):
    (tmp_path / "bad.json").write_bytes(content)

    with pytest.raises(InvalidData, match=rf"bad\.json.*{said}") as told:
        read_json(tmp_path / "bad.json")

    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_or_too_large_is_told(tmp_path):
    (tmp_path / "large.json").write_text("[1, 2, 3]")

    with pytest.raises(InvalidData, match=r"none\.json: no such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(InvalidData, match=r"large\.json has 9 bytes: at most 8 are read"):
        read_json(tmp_path / "large.json", largest=8)


def test_columns_are_taken_by_name(tmp_path):
    (tmp_path / "a.csv").write_text('b,c,a\n1,2,3\n\n4,5,"6,7"\n')

    assert read_rows(tmp_path / "a.csv", ("a", "b")) == [(2, ("3", "1")), (4, ("6,7", "4"))]


def test_a_row_over_several_lines_is_called_by_its_first(tmp_path):
    (tmp_path / "a.csv").write_text('a\n"x\ny"\nz\n')

    assert read_rows(tmp_path / "a.csv", ("a",)) == [(2, ("x\ny",)), (4, ("z",))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,c\n1,2\n", "no column 'b'. It has a, c"),
        ("a,b\n1,2\n3\n", "line 3: 1 values, but 2"),
        ('a,"c\nd"\n1,2\n', r"It has a, c\\nd\."),
        (f"a,{'c' * 9000}\n1,2\n", r"It has a, c{194}\.\.\.\.$"),
    ],
)
def test_a_wrong_list_is_told(tmp_path, text, said):
    (tmp_path / "a.csv").write_text(text)

    with pytest.raises(InvalidData, match=rf"a\.csv.*{said}"):
        read_rows(tmp_path / "a.csv", ("a", "b"))
