"""PASCAL VOC: boxes, labels, their renaming, and everything that can be wrong with an XML file."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidData, UnknownName
from leocod.readers.voc import read_voc
from leocod.readers.voc_objects import LARGEST_FRAME

MUG, BOOK = ("mug", 1, 1, 20, 30), ("book", 11, 21, 80, 60)


@pytest.fixture
def written(a_voc, tmp_path):
    """Writes three images, the first with two objects, the last without; the first file is changed as asked."""

    def write(old="", new=""):
        root = a_voc(tmp_path, {"1": [MUG, BOOK], "2": [MUG], "3": []})
        file = root / "Annotations" / "1.xml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        return root

    return write


def test_boxes_count_pixels_from_0_and_end_after_their_last_pixel(written, boxes):
    found = read_voc(written())

    # The whole picture of 80 x 60 is 1, 1, 80, 60 in VOC.
    assert boxes(found) == [[("mug", 0, 0, 20, 30), ("book", 10, 20, 80, 60)], [("mug", 0, 0, 20, 30)], []]
    assert found.classes == ("book", "mug")
    assert [(entry.id, entry.index, entry.size) for entry in found.entries] == [
        (0, 0, (60, 80)),
        (1, 1, (60, 80)),
        (2, 2, (60, 80)),
    ]


def test_numbers_may_have_digits_after_the_point(a_voc, tmp_path, boxes):
    found = read_voc(a_voc(tmp_path, {"1": [("mug", "1.5", "2.", "1e1", "+9.25")]}))

    assert boxes(found) == [[("mug", 0.5, 1, 10, 9.25)]]


def test_one_pixel_is_a_box(a_voc, tmp_path, boxes):
    assert boxes(read_voc(a_voc(tmp_path, {"1": [("mug", 5, 5, 5, 5)]}))) == [[("mug", 4, 4, 5, 5)]]


def test_a_file_that_counts_from_0_is_clipped_by_its_pixel_without_a_word(a_voc, tmp_path, boxes, met):
    assert boxes(read_voc(a_voc(tmp_path, {"1": [("mug", 0, 0, 5, 5)]}), report=met.append)) == [[("mug", 0, 0, 5, 5)]]
    assert met == []


def test_parts_of_an_object_are_no_objects(written, boxes):
    part = "<part><name>ear</name><bndbox><xmin>1</xmin></bndbox></part></object>"

    found = read_voc(written("</object>", part))

    assert found.classes == ("book", "mug")
    assert len(boxes(found)[0]) == 2


def test_a_picture_without_an_xml_file_is_one_that_nobody_has_labelled(a_voc, tmp_path, boxes):
    found = read_voc(a_voc(tmp_path, {"1": [MUG], "2": None}))

    assert boxes(found)[1] is None
    assert (found.entries[1].size, found.entries[1].broken) == (None, False)


@pytest.mark.parametrize("size", ["<width>0</width><height>0</height>", ""])
def test_a_size_that_the_file_does_not_say_is_that_of_the_picture(written, a_picture, size, boxes):
    root = written("<width>80</width>\n\t\t<height>60</height>", size)
    if not size:
        file = root / "Annotations" / "1.xml"
        file.write_text(file.read_text().replace("<size>", "<other>").replace("</size>", "</other>"))
    a_picture(root / "JPEGImages" / "1.png", (70, 90))

    found = read_voc(root)

    assert found.entries[0].size == (70, 90)
    assert boxes(found)[0][1] == ("book", 10, 20, 80, 60)


def test_blanks_around_a_label_are_none_of_it(a_voc, tmp_path):
    assert read_voc(a_voc(tmp_path, {"1": [("mug ", 1, 1, 5, 5), ("\n mug", 1, 1, 5, 5)]})).classes == ("mug",)


def test_labels_are_renamed_and_two_may_become_one(a_voc, tmp_path, boxes):
    root = a_voc(tmp_path, {"1": [("trash can ", 1, 1, 5, 5), ("trashcan", 1, 1, 6, 6), ("mug", 1, 1, 7, 7)]})

    found = read_voc(root, rename={"trash can": "trashcan", "mug": "cup"})

    assert found.classes == ("cup", "trashcan")
    assert [name for name, *_ in boxes(found)[0]] == ["trashcan", "trashcan", "cup"]


def test_a_renaming_that_meets_no_label_is_told_with_the_nearest(a_voc, tmp_path):
    root = a_voc(tmp_path, {"1": [("stoolz", 1, 1, 5, 5)]})

    with pytest.raises(UnknownName, match=r"No label in .*Annotations for the option rename 'stols'.*mean 'stoolz'"):
        read_voc(root, rename={"stols": "stool"})


def test_a_renaming_may_meet_its_label_in_images_that_take_no_part(a_voc, tmp_path):
    images = {"1": [MUG], "2": [("stoolz", 1, 1, 5, 5)], "3": []}
    root = a_voc(tmp_path, images, first="1\n")
    (root / "Annotations" / "3.xml").write_text("damaged")

    assert read_voc(root, sets=["first"], rename={"stoolz": "stool"}).classes == ("mug",)


def test_lists_choose_the_images_and_their_order(a_voc, tmp_path, boxes):
    root = a_voc(tmp_path, {"1": [MUG], "2": [BOOK], "3": [("bed", 1, 1, 5, 5)]}, late="2\n", early="1\n")

    found = read_voc(root, sets=["late", "early"])

    assert [(entry.id, entry.video, entry.index) for entry in found.entries] == [(0, "late", 0), (1, "early", 0)]
    assert found.classes == ("book", "mug")


def test_a_list_may_not_name_what_is_not_there_or_was_named_before(a_voc, tmp_path, met):
    root = a_voc(tmp_path, {"1": [MUG], "2": [BOOK]}, all="1\n../2\n1\n2\n1.png\n")

    with pytest.raises(InvalidData, match=r"all\.txt, line 2, image \.\./2: its picture .* no such file"):
        read_voc(root, sets=["all"])
    found = read_voc(root, sets=["all"], report=met.append)

    assert [entry.broken for entry in found.entries] == [False, True, True, False, True]
    assert [(one.kind, one.frame) for one in met] == [("picture", 1), ("duplicate id", 2), ("picture", 4)]
    assert "it is in the lists twice, first in" in met[1].what


def test_chosen_classes_are_the_only_ones_and_the_others_are_told(written, boxes, met):
    found = read_voc(written(), classes=["bed", "mug"], report=met.append)

    assert found.classes == ("bed", "mug")
    assert boxes(found) == [[("mug", 0, 0, 20, 30)]] * 2 + [[]]
    assert [(one.kind, one.breaks) for one in met] == [("unused class", False)]
    assert "the class 'book', in 1 frame, is not in the class list" in met[0].what


FRAME_0 = [
    ("<annotation>", "<annotation", r"1\.xml: it cannot be read \(line 2, column 2: not well-formed", "file"),
    ("<annotation>", "<!DOCTYPE a><annotation>", "a document type is declared", "file"),
    ("<annotation>", "<annotation>\0", "not well-formed", "file"),
    ("<annotation>", "<annotation>&x;", "undefined entity", "file"),
    ("</size>", "</size><size/>", "<annotation> has 2 times <size>", "file"),
    ("<xmin>1</xmin>", "<xmin>1</xmin><xmin>2</xmin>", "<bndbox> has 2 times <xmin>", "file"),
    ("<name>mug</name>", "<name>mug</name><name>x</name>", "<object> has 2 times <name>", "file"),
    ("<name>mug</name>", "", "object 1: no class None", "class"),
    ("<name>mug</name>", "<name> </name>", "no class ''", "class"),
    ("<name>mug</name>", "<name>a\nb</name>", r"no class 'a\\nb'", "class"),
    ("<xmin>1</xmin>", "<xmin>1,5</xmin>", r"object 1 \('mug'\).*the box is \['1,5', 0, 20, 30\].*four numbers", "box"),
    ("<xmin>1</xmin>", "<xmin>nan</xmin>", "it should be four numbers", "box"),
    ("<xmin>1</xmin>", "<xmin>1e300</xmin>", "it should be four numbers", "box"),
    ("<xmin>1</xmin>", "", r"the box is \[None, 0, 20, 30\]", "box"),
    ("<xmin>1</xmin>", "<xmin>30</xmin>", "it has no area", "box"),
    ("<xmax>20</xmax>", "<xmax>-3</xmax>", "it has no area", "box"),
    ("<xmin>11</xmin>", "<xmin>81</xmin>", "it has no area", "box"),
    ("<bndbox>", "<bndbox/><other/><bndbox>", "<object> has 2 times <bndbox>", "file"),
    ("<width>80</width>", "<width>wide</width>", "height and width are 60 and 'wide'", "size"),
    ("<width>80</width>", "", "height and width are 60 and None", "size"),
    ("<width>80</width>", "<width>-80</width>", "they should be pixels", "size"),
]


@pytest.mark.parametrize(("old", "new", "said", "kind"), FRAME_0)
def test_a_bad_file_stops_with_its_name_or_costs_one_frame(written, met, boxes, old, new, said, kind):
    root = written(old, new)

    with pytest.raises(InvalidData, match=rf"1\.xml.*{said}" if "xml" not in said else said):
        read_voc(root)
    found = read_voc(root, classes=["book", "mug"], report=met.append)

    assert [entry.broken for entry in found.entries] == [True, False, False]
    assert [(one.kind, one.frame) for one in met] == [(kind, 0)]
    assert boxes(found) == [[], [("mug", 0, 0, 20, 30)], []]


def test_a_box_that_sticks_out_is_clipped_and_told_and_one_outside_costs_its_frame(a_voc, tmp_path, boxes, met):
    root = a_voc(tmp_path, {"1": [("mug", 1, 1, 90, 30)], "2": [("mug", 101, 1, 110, 30)]})

    found = read_voc(root, report=met.append)

    assert boxes(found)[0] == [("mug", 0, 0, 80, 30)]
    assert [(one.kind, one.breaks) for one in met] == [("clipped box", False), ("box", True)]
    assert "lies outside its frame of 80 x 60 pixels" in met[1].what


def test_an_xml_file_of_something_else_is_told(written):
    root = written()
    (root / "Annotations" / "1.xml").write_text("<svg/>")

    with pytest.raises(InvalidData, match=r"1\.xml: it holds <svg>: it should hold <annotation>"):
        read_voc(root)


def test_a_file_that_is_too_large_is_not_read(written):
    root = written()
    with (root / "Annotations" / "1.xml").open("r+b") as file:
        file.truncate(LARGEST_FRAME + 1)

    with pytest.raises(InvalidData, match=rf"1\.xml: it has more than {LARGEST_FRAME} bytes"):
        read_voc(root)


def test_labels_of_no_picture_are_told(written, met):
    root = written()
    (root / "JPEGImages" / "2.png").unlink()

    with pytest.raises(InvalidData, match=r"2\.xml: its picture .*2\.jpg: no such file\. Put the image there"):
        read_voc(root)
    found = read_voc(root, report=met.append)

    assert [entry.broken for entry in found.entries] == [False, True, False]


def test_nothing_outside_of_the_folder_is_opened(written, tmp_path_factory, met):
    root = written()
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "2.xml"
    (root / "Annotations" / "2.xml").rename(elsewhere)
    (root / "Annotations" / "2.xml").symlink_to(elsewhere)

    with pytest.raises(InvalidData, match="leads outside"):
        read_voc(root)
    found = read_voc(root, rename={"mug": "cup"}, report=met.append)

    assert [(one.kind, one.frame) for one in met] == [("path", 1)]
    assert [len(entry.labels) for entry in found.entries] == [2, 0, 0]


def test_a_folder_without_pictures_or_without_labels_is_told(a_voc, tmp_path):
    with pytest.raises(InvalidData, match="JPEGImages: no such folder"):
        read_voc(a_voc(tmp_path, {}))
    (tmp_path / "JPEGImages").mkdir()
    with pytest.raises(InvalidData, match="JPEGImages: no pictures"):
        read_voc(tmp_path)
    with pytest.raises(InvalidData, match="no label names a class. Give the class list as `classes`"):
        read_voc(a_voc(tmp_path, {"1": None}))
