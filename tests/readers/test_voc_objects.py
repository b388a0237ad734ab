"""One XML file of PASCAL VOC. How many of them are read: see test_voc.py and labels/test_voc.py."""

from __future__ import annotations

import pytest

from leocod.files.strict_xml import parse_xml
from leocod.readers.labels.base import Notes
from leocod.readers.voc_objects import VocObject, parse_object, parse_size, parse_voc


def test_the_first_corner_is_counted_from_1():
    corners = "<xmin>11</xmin><ymin>21.5</ymin><xmax>40</xmax><ymax>x</ymax>"

    assert parse_object(parse_xml(f"<object><name>mug</name><bndbox>{corners}</bndbox></object>")) == VocObject(
        "mug", [10, 20.5, 40, "x"]
    )
    assert parse_object(parse_xml("<object/>")) == VocObject(None, None)


def test_an_object_is_named_by_its_place_and_its_label():
    assert VocObject("mug", None).name_record(2) == "object 2 ('mug')"
    assert VocObject(None, None).name_record(1) == "object 1"


@pytest.mark.parametrize(
    ("sides", "size", "problems"),
    [("<height>6</height><width>8</width>", (6, 8), 0), ("<height>0</height><width>0</width>", None, 0), ("", None, 0)],
)
def test_a_size_may_be_unknown(sides, size, problems):
    notes = Notes()

    assert parse_size(parse_xml(f"<annotation><size>{sides}</size></annotation>"), notes) == size
    assert len(notes) == problems


def test_another_kind_of_xml_is_refused(tmp_path):
    (tmp_path / "a.xml").write_text("<View/>")

    with pytest.raises(ValueError, match="it holds <View>: it should hold <annotation>"):
        parse_voc(tmp_path / "a.xml")
