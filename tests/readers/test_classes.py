"""Names of classes: those that would break a line or a file are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.errors import InvalidData, UnknownName
from leocod.readers.classes import LONGEST, MOST, choose_classes, explain_bad_list, explain_bad_name, number_classes

FILE = Path("labels.json")


@pytest.mark.parametrize("name", ["mug", "[b]ug", "杯", "كوب", "mug 2", "👩‍🍳"])
def test_a_name_in_any_script_will_do(name: str) -> None:
    assert explain_bad_name(name) is None


@pytest.mark.parametrize("name", ["", " "])
def test_a_class_needs_a_name(name: str) -> None:
    with pytest.raises(InvalidData, match=r"labels\.json, class '.?': its name is empty\. Give it a name\."):
        choose_classes(["mug", name], None, FILE, "somewhere")


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\ud800", "a\0", "a\u2028b", "\x85"])
def test_a_name_that_breaks_a_line_or_cannot_be_written_is_refused(name: str) -> None:
    assert "control character" in str(explain_bad_name(name))
    with pytest.raises(InvalidData, match="control character") as told:
        choose_classes([name], None, FILE, "somewhere")
    assert str(told.value).isprintable()


def test_the_classes_are_all_or_the_chosen_ones_in_their_order() -> None:
    assert choose_classes(["a", "b", "c"], None, FILE, "") == ("a", "b", "c")
    assert choose_classes(["a", "b", "c"], ["c", "a"], FILE, "") == ("c", "a")
    with pytest.raises(UnknownName, match="No class in labels.json 'mug'"):
        choose_classes(["a"], ["mug"], FILE, "")


def test_a_file_without_classes_is_told_where_they_belong() -> None:
    with pytest.raises(InvalidData, match=r"labels\.json names no classes. It should have them under 'categories'"):
        choose_classes([], None, FILE, "under 'categories'")


def test_a_class_that_takes_no_part_has_no_number() -> None:
    assert number_classes({4: "a", 5: "b", 6: "c"}, ["c", "a"]) == {4: 1, 5: None, 6: 0}


@pytest.mark.parametrize(
    ("names", "said"), [([], "at least one"), (["a", "b", "a"], "'a' is named twice"), (["a\n"], "control")]
)
def test_a_list_of_classes_has_names_and_none_twice(names: list[str], said: str) -> None:
    assert said in str(explain_bad_list(names))
    assert explain_bad_list(["a", "b"]) is None


def test_a_name_or_a_list_too_long_is_refused() -> None:
    many = [str(number) for number in range(MOST + 1)]

    assert explain_bad_name("x" * LONGEST) is None
    assert "201 characters: at most 200" in str(explain_bad_name("x" * 201))
    with pytest.raises(InvalidData, match=r"labels\.json names 20001 classes: at most 20000"):
        choose_classes(many, None, FILE, "somewhere")
    assert "20001 names: at most 20000" in str(explain_bad_list(many))
    assert len(choose_classes(many[:-1], None, FILE, "somewhere")) == MOST
    assert explain_bad_list(many[:-1]) is None
