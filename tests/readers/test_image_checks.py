"""Images are checked in several threads, and one of the wrong size is told with its cause."""

from __future__ import annotations

import threading
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.errors import InvalidFrame
from leocod.files.images import Upright
from leocod.readers.image_checks import (
    BrokenImage,
    check_images,
    describe_size_mismatch,
    explain_size_mismatch,
    find_faults,
    map_in_threads,
)
from leocod.readers.recording import Entry, Problem
from leocod.types import Frame

SIZE = (12, 20)


def picture(path: Path, orientation: int = 1) -> Path:
    note = PillowImage.Exif()
    note[0x0112] = orientation
    PillowImage.new("RGB", SIZE[::-1]).save(path, exif=note)
    return path


def find_problems(path: Path, size: tuple[int, int], **how: Any) -> list[Problem]:
    how = {"quick": False, "upright": False, "progress": lambda total: None, **how}
    return list(check_images([Entry(7, "walk", 3, path, size, None)], **how))


def test_who_has_seen_enough_does_not_wait_for_the_rest() -> None:
    begun: list[int] = []

    def slowly(number: int) -> int:
        begun.append(number)
        sleep(0.01)
        return number

    results = map_in_threads(slowly, range(20_000))
    first = next(results)
    results.close()

    assert first == 0
    assert len(begun) < 20_000


def test_progress_is_called_for_every_picture(tmp_path: Path) -> None:
    totals: list[int] = []
    entries = [Entry(n, "walk", n, picture(tmp_path / f"{n}.png"), SIZE, None) for n in range(3)]

    assert list(check_images(entries, quick=True, upright=False, progress=totals.append)) == []
    assert totals == [3, 3, 3]


@pytest.mark.parametrize("quick", [True, False])
def test_a_turned_picture_is_as_large_as_it_is_stored_or_as_it_is_shown(tmp_path: Path, quick: bool) -> None:
    path = picture(tmp_path / "a.jpg", 6)

    stored = find_problems(path, SIZE, quick=quick)
    shown = find_problems(path, SIZE[::-1], quick=quick, upright=True)

    assert [(one.kind, one.breaks) for one in stored] == [("turned picture", False)]
    assert shown == []


def test_a_size_that_is_the_turned_one_is_told_with_its_cause_and_cure(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.jpg", 6)

    (stored,) = find_problems(path, SIZE[::-1])
    (shown,) = find_problems(path, SIZE, upright=True)
    (other,) = find_problems(path, (5, 5))

    assert {one.kind for one in (stored, shown, other)} == {"size"}
    assert "its record says 12 x 20: the file notes that it is to be turned (EXIF orientation 6)" in stored.what
    assert "Save it turned and without that note" in stored.what
    assert "once it is turned as the file notes (EXIF orientation 6), but its record says 20 x 12" in shown.what
    assert "the benchmark coco_video" in shown.what
    assert other.what == "it is 20 x 12 pixels large, but its record says 5 x 5. Correct the record."


def test_a_swapped_size_without_a_note_is_just_wrong(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.jpg")

    assert describe_size_mismatch(path, SIZE[::-1], SIZE, upright=False).endswith(
        "its record says 12 x 20. Correct the record."
    )


def test_the_faults_of_frames_come_in_their_order(tmp_path: Path) -> None:
    picture(tmp_path / "0.png")
    (tmp_path / "1.png").write_bytes(b"")
    contents = [tmp_path / "0.png", tmp_path / "1.png", BrokenImage("it was bad"), Upright(tmp_path / "0.png")]

    faults = list(find_faults([Frame(n, "walk", n, SIZE, content) for n, content in enumerate(contents)]))

    assert [None if fault is None else str(fault)[-60:] for fault in faults][::3] == [None, None]
    assert "1.png: the file is empty" in str(faults[1])
    assert str(faults[2]) == "it was bad"


@pytest.mark.parametrize("content", ["path", "upright", "pixels"])
def test_only_a_picture_of_another_size_is_explained(tmp_path: Path, content: str) -> None:
    path = picture(tmp_path / "a.png")
    held: dict[str, Any] = {"path": path, "upright": Upright(path), "pixels": np.zeros((*SIZE, 3), np.uint8)}
    error = InvalidFrame("so it is")

    right = explain_size_mismatch(error, Frame(7, "walk", 3, SIZE, held[content]), "list, image 7", upright=False)
    wrong = explain_size_mismatch(error, Frame(7, "walk", 3, (5, 5), held[content]), "list, image 7", upright=False)

    assert right is error
    if content == "pixels":
        assert wrong is error
    else:
        assert str(wrong).startswith(f"list, image 7, {path}: it is 20 x 12 pixels large, but its record says 5 x 5")


def test_whoever_closes_it_early_leaves_no_thread_behind() -> None:
    frames = [Frame(number, "walk", number, SIZE, BrokenImage("gone")) for number in range(9)]

    faults = find_faults(frames)
    assert str(next(faults)) == "gone"
    faults.close()

    assert [thread.name for thread in threading.enumerate() if "ThreadPool" in thread.name] == []
