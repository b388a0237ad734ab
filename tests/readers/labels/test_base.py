from __future__ import annotations

from pathlib import Path

from leocod.readers.labels.base import LabelledObject, count_left_out, find_json, find_xml_root, list_files, peek


def test_a_box_in_shares_becomes_pixels_of_the_frame() -> None:
    thing = LabelledObject("line 1", 0, [0.5, 0.5, 0.25, 0.5], "xywh", "share")

    assert thing.scale((60, 80)).box == [40, 30, 20, 30]
    assert thing._replace(unit="pixels").scale((60, 80)).box == [0.5, 0.5, 0.25, 0.5]


def test_the_beginning_of_a_file_comes_without_blanks(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf \r\n{} ")

    assert peek(tmp_path / "a") == "{} "
    assert peek(tmp_path) == peek(tmp_path / "none") == ""


def test_the_outermost_element_is_found_behind_what_may_stand_before_it(tmp_path: Path) -> None:
    for text, name in {
        "<?xml version='1.0'?>\n<!-- <b> -->\n<annotations><c/>": "annotations",
        "<annotation>": "annotation",
        "{}": "",
        "<!DOCTYPE a><a/>": "",
    }.items():
        (tmp_path / "a.xml").write_text(text)
        assert find_xml_root(tmp_path / "a.xml") == name


def test_hidden_files_are_no_labels(tmp_path: Path) -> None:
    for name in ("a/b.txt", "c.txt", ".d.txt", ".e/f.txt", "g.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    assert [str(file.relative_to(tmp_path)) for file in list_files(tmp_path, ".txt")] == ["a/b.txt", "c.txt"]


def test_one_json_file_of_a_kind_is_found_and_two_are_not(tmp_path: Path) -> None:
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "a.json").write_text("{}")
    (tmp_path / "b.json").write_text("[]")

    assert find_json(tmp_path, "{") == tmp_path / "annotations" / "a.json"
    assert find_json(tmp_path, "[") == tmp_path / "b.json"
    (tmp_path / "c.json").write_text("[]")
    assert find_json(tmp_path, "[") is None


def test_what_is_left_out_is_one_sentence() -> None:
    assert count_left_out([]) == []
    assert count_left_out(["polygon", "rotated boxes", "polygon"]) == [
        "3 shapes left out, because only upright boxes are read: 2 polygon, 1 rotated boxes."
    ]
    (many,) = count_left_out(f"kind {number}\n" for number in range(10))
    assert many.endswith("and 2 more kinds.")
    assert many.isprintable()
