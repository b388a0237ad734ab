"""A file is written whole or not at all; what was there before stays until then."""

import errno
import json
import os
from pathlib import Path

import pytest

from leocod.files.atomic import atomic_directory, atomic_write, write_json, write_text


def test_a_broken_off_write_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    write_json(file, {"fap": 1})

    with pytest.raises(RuntimeError), atomic_write(file) as temporary:
        temporary.write_text("half a")
        raise RuntimeError

    assert json.loads(file.read_text()) == {"fap": 1}
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("durable", [True, False])
def test_a_new_file_that_is_broken_off_is_not_there(tmp_path: Path, durable: bool) -> None:
    with pytest.raises(OSError, match="full"), atomic_write(tmp_path / "deep" / "file", durable=durable) as temporary:
        temporary.write_text("half a")
        raise OSError(errno.ENOSPC, "full")

    assert not list((tmp_path / "deep").iterdir())


def test_a_file_is_flushed_to_disk_unless_it_need_not_be_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(
        "leocod.files.atomic.os.fsync", lambda file: synced.append(os.fstat(file).st_ino) or fsync(file)
    )

    write_text(tmp_path / "volatile", "a", durable=False)
    assert synced == []
    write_text(tmp_path / "durable", "b")

    assert synced == [(tmp_path / "durable").stat().st_ino, tmp_path.stat().st_ino]


def test_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "results.json", {"fap": float("nan")})

    assert not list(tmp_path.iterdir())


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()

    with atomic_directory(tmp_path / "there") as folder:
        write_text(folder / "file", "content")
        assert not list((tmp_path / "there").iterdir())
    with pytest.raises(RuntimeError), atomic_directory(tmp_path / "broken") as folder:
        write_text(folder / "file", "content")
        raise RuntimeError

    assert (tmp_path / "there" / "file").read_text() == "content"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
