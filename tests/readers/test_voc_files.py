"""The order of the images of a PASCAL VOC data set: that of their names, or of lists."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidData, UnknownName
from leocod.readers.voc_files import VocFiles


def listed(places):
    return [(place.video, place.index, place.stem) for place in places]


def test_images_come_by_name_with_numbers_by_value(a_voc, tmp_path, met):
    files = VocFiles(a_voc(tmp_path / "home", {"f10": [], "f9": None, "a2": []}), met.append)

    assert listed(files.list_all()) == [("home", 0, "a2"), ("home", 1, "f9"), ("home", 2, "f10")]
    assert met == []


def test_an_image_of_which_only_the_labels_are_there_has_its_place(a_voc, tmp_path, met):
    root = a_voc(tmp_path, {"1": [], "2": [], "3": []})
    (root / "JPEGImages" / "2.png").unlink()

    assert [place.stem for place in VocFiles(root, met.append).list_all()] == ["1", "2", "3"]


def test_each_list_is_a_video_in_the_order_of_its_lines(a_voc, tmp_path, met):
    root = a_voc(tmp_path, {name: [] for name in "abcd"}, val="d\n\n  b\n", mug_train="c -1\na  1\r\n")

    places = list(VocFiles(root, met.append).list_sets(["val", "mug_train"]))

    assert listed(places) == [("val", 0, "d"), ("val", 1, "b"), ("mug_train", 0, "c"), ("mug_train", 1, "a")]
    assert [place.listed for place in places][1] == (root / "ImageSets" / "Main" / "val.txt", 3)


def test_an_image_that_is_listed_again_says_where_it_was_first(a_voc, tmp_path, met):
    root = a_voc(tmp_path, {"a": []}, one="a\n", two="\na\n")

    first, again = VocFiles(root, met.append).list_sets(["one", "two"])

    assert first.repeats == ""
    assert again.repeats.endswith("one.txt, line 1")


def test_a_list_that_is_not_there_is_told_with_the_nearest(a_voc, tmp_path, met):
    root = a_voc(tmp_path, {"a": []}, block01="a\n")

    with pytest.raises(UnknownName, match=r"No list in .*ImageSets/Main 'blok01'\. Did you mean 'block01'"):
        list(VocFiles(root, met.append).list_sets(["blok01"]))
    with pytest.raises(InvalidData, match="sets: the path .* leads outside"):
        list(VocFiles(root, met.append).list_sets(["../../../a"]))


@pytest.mark.parametrize("folder", ["JPEGImages", "Annotations"])
def test_a_folder_that_is_not_there_is_told(a_voc, tmp_path, met, folder):
    a_voc(tmp_path, {"a": []})
    (tmp_path / folder).rename(tmp_path / "other")

    with pytest.raises(InvalidData, match=f"{folder}: no such folder. PASCAL VOC has"):
        VocFiles(tmp_path, met.append)
    with pytest.raises(InvalidData, match="none: no such folder"):
        VocFiles(tmp_path / "none", met.append)


def test_of_two_pictures_with_one_name_the_first_is_used_and_that_is_told(a_voc, a_picture, tmp_path, met):
    root = a_voc(tmp_path, {"a": []})
    a_picture(root / "JPEGImages" / "a.bmp")

    files = VocFiles(root, met.append)

    assert files.pictures["a"].name == "a.bmp"
    assert [(one.kind, one.breaks, one.file.name) for one in met] == [("duplicate picture", False, "a.png")]


def test_hidden_files_and_files_of_other_kinds_are_no_images(a_voc, tmp_path, met):
    root = a_voc(tmp_path, {"a": []})
    for name in ("JPEGImages/._a.png", "JPEGImages/Thumbs.db", "Annotations/._a.xml", "Annotations/a.json"):
        (root / name).touch()

    files = VocFiles(root, met.append)

    assert ([*files.pictures], [*files.annotations], met) == (["a"], ["a"], [])
