"""What is not there is told, and no path leads out of its folder."""

from pathlib import Path

import pytest

from leocod.errors import InvalidData
from leocod.files.paths import Root, explain_absence, is_inside


def test_what_keeps_a_path_from_being_a_file(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(b"x")
    (tmp_path / "empty").touch()

    for name, reason in {
        "full": None,
        "empty": "the file is empty",
        "none": "no such file",
        "full/inner": "not a directory",
        "": "not a file",
        "a\0b": "no file can be called that",
        "\ud800": "no file can be called that",
    }.items():
        assert explain_absence(tmp_path / name) == reason


def test_a_path_is_inside_a_folder_after_all_links_are_followed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret").touch()
    (home / "away").symlink_to(tmp_path / "secret")
    (home / "loop").symlink_to("loop")

    assert is_inside(home / "not yet there", home)
    for name in ("away", "loop", "../secret", "nul\0"):
        assert not is_inside(home / name, home)


@pytest.mark.parametrize("name", ["../b.jpg", "a/../../b.jpg", "a/../b.jpg", "/etc/passwd", "", "a\\b.jpg"])
def test_a_path_that_could_leave_the_root_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidData, match="list.csv, line 3: the path .* leads outside"):
        Root(tmp_path).join(name, Path("list.csv"), "line 3")


def test_a_path_in_the_root_is_found_there(tmp_path: Path) -> None:
    assert Root(tmp_path).join("a/b..c.jpg", Path("list.csv"), "") == tmp_path / "a" / "b..c.jpg"


def test_links_may_lead_within_the_root_and_nowhere_else(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "real" / "a.jpg").touch()
    (tmp_path / "secret.jpg").touch()
    (root / "near").symlink_to(root / "real")
    (root / "far").symlink_to(tmp_path)
    (root / "far.jpg").symlink_to(tmp_path / "secret.jpg")
    (root / "loop").symlink_to(root / "loop")

    assert Root(root).join("near/a.jpg", Path("x"), "") == root / "near" / "a.jpg"
    for name in ("far/secret.jpg", "far.jpg", "loop/a.jpg"):
        with pytest.raises(InvalidData, match="leads outside"):
            Root(root).join(name, Path("x"), "")


@pytest.mark.parametrize(
    ("name", "said"),
    [("a\0b", "no file name can have"), ("\ud800", "no file name can have"), (f"{'n' * 300}/a.jpg", "is too long")],
)
def test_a_name_that_no_file_can_have_is_told_as_such(tmp_path: Path, name: str, said: str) -> None:
    assert said in str(Root(tmp_path).explain_refusal(name))
    assert Root(tmp_path).explain_refusal("a.jpg") is None


def test_a_root_that_is_itself_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "disk")

    assert Root(tmp_path / "root").join("a.jpg", Path("x"), "") == tmp_path / "root" / "a.jpg"
