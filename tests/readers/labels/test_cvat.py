"""CVAT's XML, in the form in which CVAT 2 writes it."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidData
from leocod.readers.labels import cvat
from leocod.readers.recording import raise_problem

LABELS = """      <labels>
        <label>
          <name>mug</name>
          <color>#fa3253</color>
          <type>any</type>
          <attributes>
          </attributes>
        </label>
        <label>
          <name>book</name>
          <color>#3d3df5</color>
          <type>any</type>
          <attributes>
            <attribute>
              <name>open</name>
              <mutable>False</mutable>
              <input_type>checkbox</input_type>
              <default_value>false</default_value>
              <values>false</values>
            </attribute>
          </attributes>
        </label>
      </labels>
"""

IMAGES = f"""<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta>
    <task>
      <id>7</id>
      <name>kitchen</name>
      <size>3</size>
      <mode>annotation</mode>
      <overlap>0</overlap>
      <start_frame>0</start_frame>
      <stop_frame>2</stop_frame>
      <frame_filter></frame_filter>
{LABELS}    </task>
    <dumped>2024-05-01 10:00:00.000000+00:00</dumped>
  </meta>
  <image id="0" name="walk/a.png" width="80" height="60">
    <box label="book" source="manual" occluded="0" xtl="10.50" ytl="20.00" xbr="30.25" ybr="40.00" z_order="0">
      <attribute name="open">false</attribute>
    </box>
    <box label="mug" source="manual" occluded="0" xtl="1.00" ytl="2.00" xbr="3.00" ybr="4.00" rotation="12.50">
    </box>
    <polygon label="mug" source="manual" occluded="0" points="1.00,2.00;3.00,4.00;5.00,1.00" z_order="0">
    </polygon>
  </image>
  <image id="1" name="walk/b.png" width="80" height="60">
  </image>
  <image id="2" name="frame_000012.png" width="80" height="60">
    <tag label="mug" source="manual">
    </tag>
  </image>
</annotations>
"""

BOX = '<box frame="{}" keyframe="{}" outside="{}" occluded="0" xtl="{}" ytl="2" xbr="30" ybr="40"></box>'

VIDEO = f"""<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta>
    <task>
      <id>8</id>
      <size>12</size>
      <mode>interpolation</mode>
      <start_frame>0</start_frame>
      <stop_frame>11</stop_frame>
{LABELS}      <original_size>
        <width>80</width>
        <height>60</height>
      </original_size>
      <source>film.mp4</source>
    </task>
  </meta>
  <track id="0" label="mug" source="manual">
    {BOX.format(3, 1, 0, 10)}
    {BOX.format(4, 0, 0, 11)}
    {BOX.format(5, 1, 1, 11)}
  </track>
  <track id="1" label="book" source="manual">
    {BOX.format(4, 1, 0, 5)}
    <polygon frame="5" keyframe="1" outside="0" occluded="0" points="1,2;3,4;5,1" z_order="0">
    </polygon>
    <polygon frame="6" keyframe="1" outside="1" occluded="0" points="1,2;3,4;5,1" z_order="0">
    </polygon>
  </track>
</annotations>
"""


@pytest.fixture
def a_file(tmp_path):
    def write(text):
        (tmp_path / "annotations.xml").write_text(text)
        return tmp_path / "annotations.xml"

    return write


def test_the_boxes_of_images_are_read_and_other_shapes_counted(a_file, told):
    file = a_file(IMAGES)

    found = cvat.read(file, raise_problem)

    assert cvat.recognise(file)
    assert list(found.classes) == ["mug", "book"]
    assert told(found) == [
        ("walk/a.png", [("book", 10.5, 20, 30.25, 40)]),
        ("walk/b.png", []),
        ("frame_000012.png", []),
    ]
    assert {image.size for image in found.images} == {(60, 80)}
    # These are pictures that somebody has named so, from 0 or from 1.
    assert found.images[2].number is None
    assert found.remarks == [
        "2 shapes left out, because only upright boxes are read: 1 rotated boxes, 1 polygon.",
    ]


def test_the_archive_of_cvat_is_read_once_it_is_unpacked(a_file, told):
    folder = a_file(IMAGES).parent

    assert cvat.recognise(folder)
    assert len(told(cvat.read(folder, raise_problem))) == 3


def test_the_boxes_of_tracks_are_gathered_by_frame(a_file, told):
    found = cvat.read(a_file(VIDEO), raise_problem)

    # In frame 5 the mug has left, so somebody has looked at it.
    assert told(found) == [
        (3, [("mug", 10, 2, 30, 40)]),
        (4, [("mug", 11, 2, 30, 40), ("book", 5, 2, 30, 40)]),
        (5, []),
    ]
    assert {(image.size, image.count) for image in found.images} == {((60, 80), 12)}
    assert [thing.find_instance("film") for thing in found.images[1].objects] == [("film", "0"), ("film", "1")]
    assert found.remarks == ["1 shape left out, because only upright boxes are read: 1 polygon."]


def test_images_of_a_video_are_frames_by_the_number_in_their_name(a_file):
    text = IMAGES.replace("</labels>", "</labels><source>film.mp4</source>")

    assert [image.number for image in cvat.read(a_file(text), raise_problem).images] == [None, None, 12]


def test_without_a_list_classes_are_those_of_boxes(a_file):
    text = IMAGES.replace(LABELS, "").replace('label="book"', 'label="jar"')

    assert list(cvat.read(a_file(text), raise_problem).classes) == ["jar"]


@pytest.mark.parametrize("around", ["job", "project"])
def test_a_job_and_a_project_have_labels_too(a_file, around):
    text = IMAGES.replace("<task>", f"<{around}>").replace("</task>", f"</{around}>")

    assert list(cvat.read(a_file(text), raise_problem).classes) == ["mug", "book"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (VIDEO.replace('frame="3"', 'frame="-3"'), "track 0: a box is of frame '-3'"),
        (VIDEO.replace('id="1"', 'id="1" task_id="2"'), "tracks of 2 tasks"),
        ("<annotation/>", "it should hold <annotations>"),
        ("<annotations>", "no element found"),
        (f"<annotations><meta><task>{LABELS}{LABELS}</task></meta></annotations>", "2 times <labels>"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><annotations/>", "a document type is declared"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_file(a_file, text, said):
    with pytest.raises(InvalidData, match=rf"annotations\.xml.*{said}"):
        cvat.read(a_file(text), raise_problem)


def test_the_number_of_elements_is_limited(a_file, monkeypatch):
    monkeypatch.setattr(cvat, "MOST", 20)

    with pytest.raises(InvalidData, match="more than 20 elements"):
        cvat.read(a_file(IMAGES), raise_problem)
