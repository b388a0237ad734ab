"""Checkpoints of a live run: the newest few, and none that knows what was taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from leocod.live.checkpoints import Checkpoints, Saved


def make_state(step: int, position: int) -> dict[str, object]:
    return {"step": step, "live": {"position": position}}


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    """After the start, and after steps 3, 6 and 9."""
    made = Checkpoints(tmp_path, keep=4)
    for step, position in ((-1, 1), (3, 8), (6, 15), (9, 22)):
        made.write(make_state(step, position), alone=False)
    return made


def test_the_newest_few_stay(checkpoints: Checkpoints) -> None:
    assert checkpoints.oldest_position == 1

    checkpoints.write(make_state(12, 30), alone=False)

    assert [saved.step for saved in checkpoints.saved.values()] == [3, 6, 9, 12]
    assert checkpoints.oldest_position == 8
    checkpoints.write(make_state(13, 31), alone=True)
    assert [path.name for path in checkpoints.list()] == ["step_00013.pt"]


def test_what_is_there_is_found_again_but_for_what_is_damaged(checkpoints: Checkpoints) -> None:
    (checkpoints.folder / "step_00006.pt").write_bytes(b"no checkpoint")
    told: list[str] = []

    again = Checkpoints(checkpoints.folder, keep=4)
    again.find(told.append)

    assert set(again.saved.values()) == {Saved(-1, 1), Saved(3, 8), Saved(9, 22)}
    assert ["step_00006.pt cannot be loaded" in text and "passed over" in text for text in told] == [True]


def test_one_can_go_back_to_before_a_step(checkpoints: Checkpoints) -> None:
    newest = [checkpoints.read_newest(before=step) for step in (99, 9, 3)]
    assert [state["step"] for state in newest if state is not None] == [9, 6, -1]

    checkpoints.remove_from(6)

    assert [path.name for path in checkpoints.list()] == ["step_00003.pt", "step_00000.pt"]


def test_one_that_was_damaged_since_is_passed_over(checkpoints: Checkpoints) -> None:
    (checkpoints.folder / "step_00009.pt").write_bytes(b"")

    state = checkpoints.read_newest(before=99)

    assert state is not None
    assert state["step"] == 6


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ({"kind": "undo", "goes_back": True, "step": 5}, [-1, 3]),
        ({"kind": "undo", "goes_back": False, "step": 5}, [-1, 3, 6, 9]),
        ({"kind": "undo", "goes_back": True, "step": 10}, [-1, 3, 6, 9]),
        ({"kind": "forget", "frame": 3}, [-1, 3, 6, 9]),
    ],
)
def test_one_that_knows_a_label_which_was_taken_back_later_is_removed(checkpoints: Checkpoints, entry, left) -> None:
    checkpoints.remove_stale([(25, entry)])

    assert sorted(saved.step for saved in checkpoints.saved.values()) == left


def test_one_that_was_written_after_a_label_was_taken_back_stays(checkpoints: Checkpoints) -> None:
    checkpoints.remove_stale([(17, {"kind": "undo", "goes_back": True, "step": 5})])

    assert sorted(saved.step for saved in checkpoints.saved.values()) == [-1, 3, 9]
