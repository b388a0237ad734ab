"""XML that anyone may have written: elements and text are read, everything else is refused in one line."""

from __future__ import annotations

import pytest

from leocod.files.strict_xml import DEEPEST, MOST, Element, parse_xml


def test_elements_with_their_attributes_and_text_are_read() -> None:
    found = parse_xml("<?xml version='1.0'?><a b='1'>\n x <!-- no --><c>5 &lt; 6</c><c/><![CDATA[y]]>\n</a>")

    assert found == Element("a", {"b": "1"}, "x y", [Element("c", {}, "5 < 6"), Element("c")])


def test_a_text_is_unicode_whatever_encoding_it_declares() -> None:
    assert parse_xml("<?xml version='1.0' encoding='latin-1'?><a>é</a>").text == "é"


def test_a_child_is_found_by_name_unless_there_are_two() -> None:
    found = parse_xml("<a><b>1</b><c>2</c><c>3</c></a>")

    assert found.find_text("b") == "1"
    assert found.find_text("d") is None
    assert [one.text for one in found.list_children("c")] == ["2", "3"]
    with pytest.raises(ValueError, match="<a> has 2 times <c>: it should have one"):
        found.find_text("c")


BILLION = '<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;&b;">]>\n<a>&c;</a>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BILLION, r"line 1: a document type is declared"),
        ('<!DOCTYPE a SYSTEM "file:///etc/hostname"><a/>', "a document type is declared"),
        ('\n<!DOCTYPE a [<!ENTITY x SYSTEM "/dev/zero">]><a>&x;</a>', "line 2: a document type"),
        ("<a>&b;</a>", "line 1, column 4: undefined entity"),
        ("<a>\n<b></a>", "line 2, column 6: mismatched tag"),
        ("<a>", "no element found"),
        ("", "no element found"),
        ("a", "syntax error"),
        ("<a>\0</a>", "not well-formed"),
        ("<a/><b/>", "junk after document element"),
    ],
)
def test_what_is_no_plain_xml_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_xml(text)


def test_depth_is_limited() -> None:
    assert parse_xml("<a>" * DEEPEST + "</a>" * DEEPEST).name == "a"
    with pytest.raises(ValueError, match=f"more than {DEEPEST} levels"):
        parse_xml("<a>" * (DEEPEST + 1) + "</a>" * (DEEPEST + 1))
    # Long before the end, which never comes.
    with pytest.raises(ValueError, match=f"more than {DEEPEST} levels"):
        parse_xml("<a>" * 1_000_000)


def test_the_number_of_elements_is_limited() -> None:
    with pytest.raises(ValueError, match=f"more than {MOST} elements"):
        parse_xml(f"<a>{'<b/>' * MOST}</a>")
