import errno
import gzip
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidRun
from leocod.events import Event, RunFinished, RunStarted, StepArrived, StepFinished, StepLearned, StreamEnded, Warned
from leocod.files.run_directory import RunDirectory, list_packed_events
from leocod.sinks.base import RunInfo
from leocod.sinks.jsonl import JsonLines, JsonLinesOptions


def a_log(folder: Path, *, pack_every: int = 100) -> JsonLines:
    folder.mkdir(exist_ok=True)
    return JsonLines(JsonLinesOptions(pack_every=pack_every), run=RunInfo(RunDirectory(folder)))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def packed(folder: Path) -> dict[int, list[dict[str, Any]]]:
    """The packed files by their last step."""
    texts = {step: gzip.decompress(path.read_bytes()) for step, path in list_packed_events(folder / "events").items()}
    return {step: [json.loads(line) for line in text.splitlines()] for step, text in texts.items()}


def tell(sink: JsonLines, events: Iterable[Event]) -> None:
    for event in events:
        sink(event)


def a_step(step: int) -> list[Event]:
    return [StepArrived(step), StepLearned(step, {}, (), (), (), None, 0, {}), StepFinished(step)]


def started(first_step: int = 0) -> RunStarted:
    return RunStarted("a run", ("mug",), 9, first_step)


def test_each_event_that_says_something_is_a_line_with_its_name(events: list[Event], tmp_path: Path) -> None:
    with a_log(tmp_path) as sink:
        tell(sink, [*events[:-2], Warned(1, "odd"), *events[-2:]])

    written = lines(tmp_path / "events.jsonl")
    assert [line["event"] for line in written] == [
        *("RunStarted", "StepLearned", "Evaluated", "StepLearned", "Evaluated", "Warned", "RunFinished")
    ]
    assert written[0]["classes"] == ["mug", "chair", "dog"]
    assert written[1]["audit"] == {
        "frames": 3,
        "labels": 4,
        "right": 3,
        "objects": 6,
        "by_class": {"0": [3, 3, 4], "2": [1, 0, 2]},
    }
    assert written[1]["check"] == {"labels": 2, "right": 1}
    assert written[1]["refused"] is None
    assert written[2]["ap_by_class"] == {"mug": 0.5, "chair": 0.25, "dog": None}
    assert written[5] == {"event": "Warned", "step": 1, "what": "odd"}


def test_what_is_large_stays_out(events: list[Event], tmp_path: Path) -> None:
    with a_log(tmp_path) as sink:
        tell(sink, events)

    assert not {"detections", "pseudo"} & {key for line in lines(tmp_path / "events.jsonl") for key in line}


def test_every_line_is_on_disk_at_once(events: list[Event], tmp_path: Path) -> None:
    with a_log(tmp_path) as sink:
        tell(sink, events[:3])

        assert [line["event"] for line in lines(tmp_path / "events.jsonl")] == ["RunStarted", "StepLearned"]


def test_a_loss_that_ran_away_is_null(events: list[Event], tmp_path: Path) -> None:
    learned = events[2]
    assert isinstance(learned, StepLearned)

    with a_log(tmp_path) as sink:
        sink(replace(learned, losses={"current/region_class": float("nan")}))

    assert lines(tmp_path / "events.jsonl")[0]["losses"] == {"current/region_class": None}


def test_it_must_be_entered_first(events: list[Event], tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Enter the context first"):
        a_log(tmp_path)(events[0])


def test_gone_on_from_a_state_it_is_as_if_never_broken_off(tmp_path: Path) -> None:
    with a_log(tmp_path) as sink:
        tell(sink, [started(), *a_step(0)])
        state = sink.state_dict()
        tell(sink, a_step(1))

    again = a_log(tmp_path)
    again.load_state_dict(state)
    with again:
        tell(again, [started(1), *a_step(1), *a_step(2), StreamEnded(3), RunFinished(3, 1.0)])

    written = lines(tmp_path / "events.jsonl")
    assert [(line["event"], line.get("step", line.get("first_step"))) for line in written] == [
        *(("RunStarted", 0), ("StepLearned", 0), ("StepLearned", 1), ("StepLearned", 2), ("RunFinished", None))
    ]


def test_a_line_that_was_cut_off_goes_with_what_is_told_again(tmp_path: Path) -> None:
    with a_log(tmp_path) as sink:
        tell(sink, [started(), *a_step(0)])
        state = sink.state_dict()
    whole = (tmp_path / "events.jsonl").read_bytes()
    (tmp_path / "events.jsonl").write_bytes(whole + b'{"event": "StepLe')

    again = a_log(tmp_path)
    again.load_state_dict(state)
    with again:
        pass

    assert (tmp_path / "events.jsonl").read_bytes() == whole


def test_a_run_that_goes_on_from_its_beginning_begins_its_log_anew(tmp_path: Path) -> None:
    with a_log(tmp_path, pack_every=1) as sink:
        tell(sink, [started(), *a_step(0), *a_step(1)])

    with a_log(tmp_path, pack_every=1) as sink:
        tell(sink, [started(), *a_step(0)])

    assert list(packed(tmp_path)) == [0]
    assert [line["first_step"] for line in lines(tmp_path / "events.jsonl")] == [1]


def test_a_log_that_is_shorter_than_its_state_is_told(tmp_path: Path) -> None:
    with a_log(tmp_path) as sink:
        tell(sink, [started(), *a_step(0)])
        state = sink.state_dict()
    (tmp_path / "events.jsonl").write_text("")

    again = a_log(tmp_path)
    again.load_state_dict(state)

    with pytest.raises(InvalidRun, match=r"events.jsonl is shorter than it was"), again:
        pass


def test_a_long_log_is_packed_away_and_each_file_can_be_read_by_itself(tmp_path: Path) -> None:
    with a_log(tmp_path, pack_every=2) as sink:
        tell(sink, [started(), *(event for step in range(5) for event in a_step(step))])

    found = packed(tmp_path)
    assert list(found) == [1, 3]
    for first, file in zip((0, 2, 4), [*found.values(), lines(tmp_path / "events.jsonl")], strict=True):
        assert (file[0]["event"], file[0]["first_step"]) == ("RunStarted", first)
        assert [line["step"] for line in file[1:]] == [first, first + 1][: len(file) - 1]
    assert not list((tmp_path / "events").glob(".*"))


def test_what_was_packed_after_the_state_is_unpacked_again(tmp_path: Path) -> None:
    steps = [a_step(step) for step in range(6)]
    with a_log(tmp_path / "whole", pack_every=2) as sink:
        tell(sink, [started(), *(event for step in steps for event in step)])
    with a_log(tmp_path / "half", pack_every=2) as sink:
        tell(sink, [started(), *steps[0], *steps[1], *steps[2]])
        state = sink.state_dict()
        tell(sink, [*steps[3], *steps[4], *steps[5]])

    again = a_log(tmp_path / "half", pack_every=2)
    again.load_state_dict(state)
    with again:
        assert list(packed(tmp_path / "half")) == [1]
        assert [line.get("step") for line in lines(tmp_path / "half" / "events.jsonl")] == [None, 2]
        tell(again, [started(3), *steps[3], *steps[4], *steps[5]])

    assert packed(tmp_path / "half") == packed(tmp_path / "whole")
    assert lines(tmp_path / "half" / "events.jsonl") == lines(tmp_path / "whole" / "events.jsonl")


def test_killed_between_packing_and_beginning_anew_it_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with a_log(tmp_path, pack_every=2) as sink:
        tell(sink, [started(), *a_step(0)])
        state = sink.state_dict()
        tell(sink, a_step(1)[:-1])
        full = (tmp_path / "events.jsonl").read_bytes()
        sink(StepFinished(1))
    (tmp_path / "events.jsonl").write_bytes(full)

    again = a_log(tmp_path, pack_every=2)
    again.load_state_dict(state)
    with again:
        tell(again, [started(1), *a_step(1), *a_step(2)])

    assert [line.get("step") for line in packed(tmp_path)[1]] == [None, 0, 1]
    assert [line.get("step") for line in lines(tmp_path / "events.jsonl")] == [None, 2]


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def half(file: int, data: bytes) -> int:
        monkeypatch.setattr("leocod.sinks.jsonl.os.write", full)
        return write(file, data[:5])

    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with a_log(tmp_path) as sink:
        sink(started())
        monkeypatch.setattr("leocod.sinks.jsonl.os.write", half)

        with pytest.raises(OSError, match="No space left"):
            tell(sink, a_step(0))

    assert [line["event"] for line in lines(tmp_path / "events.jsonl")] == ["RunStarted"]


class Killed(BaseException):
    """Nobody gets to clean up."""


def packed_later(folder: Path) -> tuple[dict[str, Any], bytes]:
    """A log of which all is packed but its end, a state after its first step, and what it held then."""
    with a_log(folder, pack_every=2) as sink:
        tell(sink, [started(), *a_step(0)])
        state, content = sink.state_dict(), (folder / "events.jsonl").read_bytes()
        tell(sink, [event for step in range(1, 7) for event in a_step(step)])
    assert list(packed(folder)) == [1, 3, 5]
    return state, content


@pytest.mark.parametrize("removed", [0, 1, 2])
def test_killed_while_later_packs_are_removed_the_beginning_is_still_there(
    removed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, content = packed_later(tmp_path)
    unlink, gone = Path.unlink, []

    def killed(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".gz":
            if len(gone) == removed:
                raise Killed
            gone.append(path)
        unlink(path, missing_ok)

    first, second = a_log(tmp_path, pack_every=2), a_log(tmp_path, pack_every=2)
    first.load_state_dict(state)
    second.load_state_dict(state)
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(Path, "unlink", killed)
        first.__enter__()

    with second:
        assert (tmp_path / "events.jsonl").read_bytes() == content
    assert packed(tmp_path) == {}


def test_a_pack_that_was_cut_or_flipped_is_told_and_the_log_stays(tmp_path: Path) -> None:
    state, content = packed_later(tmp_path)
    pack, log = tmp_path / "events" / "until_00001.jsonl.gz", tmp_path / "events.jsonl"
    whole, now = pack.read_bytes(), log.read_bytes()
    # Without the head of ten bytes, and the last byte before the checksum: both have bits that mean nothing.
    places = sorted({*range(10, len(whole), 7)} - {len(whole) - 9})
    flipped = [whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :] for place in places]
    cut = [whole[:length] for length in range(1, len(whole), 20)]

    for damaged in (*flipped, *cut):
        pack.write_bytes(damaged)
        again = a_log(tmp_path, pack_every=2)
        again.load_state_dict(state)
        with pytest.raises(InvalidRun, match=r"until_00001\.jsonl\.gz cannot be read .*Put it back") as caught:
            again.__enter__()
        assert "\n" not in str(caught.value)
    assert log.read_bytes() == now
    pack.write_bytes(whole)
    with again:
        assert log.read_bytes() == content
