from __future__ import annotations

from leocod.readers.labels import voc
from leocod.readers.recording import raise_problem


def test_an_image_is_called_like_its_file(tmp_path, a_voc, told):
    root = a_voc(tmp_path, {"b10": [("mug", 11, 21, 40, 60)], "b9": [], "a": [("book", 1, 1, 2, 2)], "c": None})

    found = voc.read(root, raise_problem)

    assert voc.recognise(root)
    assert list(found.classes) == ["book", "mug"]
    assert told(found) == [("a.xml", [("book", 0, 0, 2, 2)]), ("b9.xml", []), ("b10.xml", [("mug", 10, 20, 40, 60)])]
    assert {image.size for image in found.images} == {(60, 80)}
    assert told(voc.read(root / "Annotations", raise_problem)) == told(found)


def test_what_is_wrong_with_one_file_is_noted(tmp_path, a_voc):
    root = a_voc(tmp_path, {name: [] for name in "abcd"})
    folder = root / "Annotations"
    (folder / "a.xml").write_text("<annotation>")
    (folder / "b.xml").write_text("<annotations/>")
    (folder / "c.xml").unlink()
    (folder / "c.xml").symlink_to("/etc/hostname")

    found = voc.read(root, raise_problem)

    assert [[note.kind for note in image.notes] for image in found.images] == [["file"], ["file"], ["path"], []]
    assert "no element found" in found.images[0].notes[0].what
    assert "it should hold <annotation>" in found.images[1].notes[0].what


def test_xml_of_other_tools_is_not_taken_for_it(tmp_path):
    (tmp_path / "a.xml").write_text("<annotations/>")
    (tmp_path / "b.xml").write_text("<View/>")

    assert not voc.recognise(tmp_path)
    assert not voc.recognise(tmp_path / "a.xml")
