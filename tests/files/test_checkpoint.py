import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from leocod.errors import InvalidRun
from leocod.files.checkpoint import CHECKSUM, read_checkpoint, read_newest_checkpoint, seal, write_checkpoint


@pytest.fixture
def state() -> dict[str, Any]:
    """What learners and sinks keep: nested, odd, and with the large numbers of numpy's generators."""
    return {
        "step": 3,
        "learner": {"weights": {"a.b": torch.arange(6.0).reshape(2, 3), "count": torch.tensor(7)}, "none": None},
        "entries": [[1, [0.1, float("inf")]], (True, "two\n"), []],
        5: b"bytes",
        "random": {"bit_generator": "PCG64", "state": {"state": 2**127 + 1, "inc": 2**128 - 1}},
    }


@pytest.fixture
def file(tmp_path: Path, state: dict[str, Any]) -> Path:
    path = tmp_path / "step_00003.pt"
    write_checkpoint(path, state)
    return path


def test_what_is_written_is_read_again(file: Path, state: dict[str, Any]) -> None:
    found = read_checkpoint(file)

    for one, two in ((found, state), (found["learner"], state["learner"])):
        assert list(one) == list(two)
    ours, theirs = (one["learner"].pop("weights") for one in (found, state))
    assert found == state
    assert all(torch.equal(theirs[name], ours[name]) and theirs[name].dtype == ours[name].dtype for name in theirs)


def test_other_programs_can_read_it_too(file: Path) -> None:
    assert torch.load(file, weights_only=True)["step"] == 3
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None


def test_a_single_flipped_byte_anywhere_is_noticed(file: Path) -> None:
    content = file.read_bytes()

    for place in (*range(0, len(content), 37), *range(len(content) - CHECKSUM - 30, len(content))):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(InvalidRun, match=r"step_00003.pt cannot be loaded \(ValueError: its checksum"):
            read_checkpoint(file)


def test_a_file_of_any_shorter_or_longer_length_is_noticed(file: Path) -> None:
    content = file.read_bytes()

    for length in (*range(0, len(content), 37), *range(len(content) - CHECKSUM - 5, len(content))):
        file.write_bytes(content[:length])
        with pytest.raises(InvalidRun, match="checksum"):
            read_checkpoint(file)
    file.write_bytes(content + b"\n")
    with pytest.raises(InvalidRun, match="checksum"):
        read_checkpoint(file)


def sealed(path: Path, content: bytes) -> Path:
    """As somebody would do who knows how a checkpoint is sealed."""
    path.write_bytes(content)
    seal(path)
    return path


def compressed(content: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return held.getvalue()


class Harmful:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("harm",)


def saved(value: Any) -> bytes:
    held = io.BytesIO()
    torch.save(value, held)
    return held.getvalue()


FORGED: dict[str, Callable[[], bytes]] = {
    "nothing in it": lambda: b"",
    "text": lambda: b"not a checkpoint, but a long enough text to hold a checksum at its end, and to spare",
    "a plain pickle": lambda: pickle.dumps({"step": 1}),
    "an empty archive": lambda: b"PK\x05\x06" + bytes(18),
    "a compressed entry": lambda: compressed(saved({"step": 1})),
    "code": lambda: saved({"step": Harmful()}),
    "a list": lambda: saved([1, 2]),
    "another class": lambda: saved({"path": Path("x")}),
}


@pytest.mark.parametrize("content", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("with_checksum", [False, True])
def test_a_forged_file_is_told_and_never_run(
    content: Callable[[], bytes], with_checksum: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "step_00001.pt"
    path.write_bytes(content())
    if with_checksum and path.stat().st_size:
        sealed(path, content())

    with pytest.raises(InvalidRun, match=r"step_00001.pt cannot be loaded") as caught:
        read_checkpoint(path)

    assert "\n" not in str(caught.value)
    assert not (tmp_path / "harm").exists()


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"step_00001.pt cannot be read .*No such file"):
        read_checkpoint(tmp_path / "step_00001.pt")


def test_where_there_is_no_checkpoint_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "step_latest.pt").write_text("somebody else's")

    assert read_newest_checkpoint(tmp_path) is None
    assert read_newest_checkpoint(tmp_path / "nowhere") is None


def test_the_newest_is_that_of_the_last_step(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for step in (99, 100_000, 20_000):
        write_checkpoint(tmp_path / f"step_{step:05d}.pt", {"step": step})

    found = read_newest_checkpoint(tmp_path)

    assert found == (tmp_path / "step_100000.pt", {"step": 100_000})
    assert not caplog.records


def test_the_newest_that_can_be_read_is_used_and_the_damage_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for step in range(3):
        write_checkpoint(tmp_path / f"step_0000{step}.pt", {"step": step})
    for step in (1, 2):
        os.truncate(tmp_path / f"step_0000{step}.pt", 400)

    found = read_newest_checkpoint(tmp_path)

    assert found == (tmp_path / "step_00000.pt", {"step": 0})
    assert len(caplog.messages) == 2
    for step, told in zip((2, 1), caplog.messages, strict=True):
        assert f"step_0000{step}.pt cannot be loaded" in told
        assert told.endswith("The one before is used.")


def test_where_all_are_damaged_that_is_an_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for step in range(2):
        (tmp_path / f"step_0000{step}.pt").write_bytes(b"")

    with pytest.raises(InvalidRun, match="step_00000.pt cannot be loaded .* No other checkpoint is left"):
        read_newest_checkpoint(tmp_path)

    assert len(caplog.messages) == 1


SCRIPT = """
import errno, resource, signal, sys
from pathlib import Path
import torch
from leocod.files.checkpoint import write_checkpoint

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for room in (0, 1000, 300_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        write_checkpoint(Path(sys.argv[1]), {"weights": torch.zeros(100_000)})
    except OSError as error:
        assert error.errno == errno.EFBIG
        print("refused", room, [path.name for path in Path(sys.argv[1]).parent.iterdir()])
"""


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path) -> None:
    older = tmp_path / "step_00000.pt"
    write_checkpoint(older, {"step": 0})

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "step_00001.pt"], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == [f"refused {room} ['step_00000.pt']" for room in (0, 1000, 300_000)]
    assert read_newest_checkpoint(tmp_path) == (older, {"step": 0})


def test_what_fails_while_writing_takes_the_place_of_nothing(file: Path, state: dict[str, Any]) -> None:
    before = file.read_bytes()

    with pytest.raises(Exception, match="pickle"):
        write_checkpoint(file, {**state, "unsavable": lambda: None})

    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


class Hasty(io.FileIO):
    """A file at the writing of which somebody presses Ctrl-C again."""

    def write(self, data: Any) -> int:
        if self.tell():
            raise KeyboardInterrupt(2)
        return super().write(data)


def test_whoever_cannot_wait_for_the_end_of_writing_is_heard_and_nothing_is_left(
    tmp_path: Path, state: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "open", lambda path, mode, buffering: Hasty(path, mode))

    with pytest.raises(KeyboardInterrupt) as caught:
        write_checkpoint(tmp_path / "step_00003.pt", state)

    assert caught.value.args == (2,)
    assert list(tmp_path.iterdir()) == []
