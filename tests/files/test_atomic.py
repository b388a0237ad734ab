"""A file is written whole or not at all; what was there before stays until then."""

import errno
import json
import os
from pathlib import Path

import pytest

from leocod.files.atomic import atomic_directory, atomic_write, open_to_append, remove, sync, write_json, write_text


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


def test_a_file_is_replaced_on_windows_as_soon_as_its_reader_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, really, reading = tmp_path / "results.json", Path.replace, [True, True]
    file.write_text("old")

    def refuse_while_it_is_read(source: Path, target: Path) -> Path:
        if reading:
            reading.pop()
            raise PermissionError(errno.EACCES, "in use", str(source))
        return really(source, target)

    monkeypatch.setattr(Path, "replace", refuse_while_it_is_read)
    monkeypatch.setattr("leocod.files.atomic.WINDOWS", True)
    write_text(file, "new")

    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_is_removed_on_windows_as_soon_as_its_reader_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, really, reading = tmp_path / "step_00001.pt", Path.unlink, [True, True]
    file.touch()

    def refuse_while_it_is_read(path: Path, *, missing_ok: bool) -> None:
        if reading:
            reading.pop()
            raise PermissionError(errno.EACCES, "in use", str(path))
        really(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse_while_it_is_read)
    monkeypatch.setattr("leocod.files.atomic.WINDOWS", True)
    remove(file)

    assert not file.exists()


def test_a_file_that_windows_does_not_give_up_is_named_and_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "results.json"
    file.write_text("old")

    def refuse(source: Path, target: Path) -> Path:
        raise PermissionError(errno.EACCES, "in use", str(source))

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr("leocod.files.atomic.WINDOWS", True)
    monkeypatch.setattr("leocod.files.atomic.PATIENCE", 0.0)
    with pytest.raises(PermissionError) as caught:
        write_text(file, "new")

    assert caught.value.filename == str(file)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_windows_writes_out_files_that_are_open_for_writing_and_no_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[Path, int]] = []
    really = os.open

    def note(path: Path, flags: int, mode: int = 0o777) -> int:
        opened.append((path, flags & os.O_ACCMODE))
        return really(path, flags, mode)

    (tmp_path / "file").touch()
    monkeypatch.setattr("leocod.files.atomic.os.open", note)
    monkeypatch.setattr("leocod.files.atomic.WINDOWS", True)
    sync(tmp_path / "file")
    sync(tmp_path)

    assert opened == [(tmp_path / "file", os.O_RDWR)]


def test_bytes_are_appended_as_they_are_where_windows_would_change_ends_of_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags: list[int] = []
    monkeypatch.setattr("leocod.files.atomic.BINARY", 0x8000_0000)
    monkeypatch.setattr("leocod.files.atomic.os.open", lambda path, flag, mode: flags.append(flag) or 0)

    open_to_append(tmp_path / "journal")

    assert flags[0] & 0x8000_0000


def test_text_has_the_same_bytes_on_every_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.linesep", "\r\n")

    write_text(tmp_path / "config.yaml", "seed: 0\nthreads: 1\n")

    assert (tmp_path / "config.yaml").read_bytes() == b"seed: 0\nthreads: 1\n"
