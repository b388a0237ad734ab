import json
from pathlib import Path

import pytest

from leocod.config import load_config
from leocod.errors import InvalidRun, RunExists
from leocod.rundir import RunDirectory, appearing, free_path, replacing, step_name, write_json, write_text


def test_a_new_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path / "deep" / "run")

    assert directory.path.is_dir()


def test_an_empty_directory_may_be_used(tmp_path: Path) -> None:
    assert RunDirectory.create(tmp_path).path == tmp_path


def test_another_run_is_named_and_left_alone(tmp_path: Path) -> None:
    write_text(tmp_path / "config.yaml", load_config().to_yaml())

    with pytest.raises(
        RunExists, match=r"holds a run \(wander, icarl with Efficient-CLS, 4 labelled frames a step, seed 0\)"
    ):
        RunDirectory.create(tmp_path)


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("chapter 1")

    with pytest.raises(RunExists, match="holds other files. Choose another --out"):
        RunDirectory.create(tmp_path)
    with pytest.raises(RunExists, match="is a file"):
        RunDirectory.create(tmp_path / "thesis.txt")
    with pytest.raises(InvalidRun, match="cannot be made"):
        RunDirectory.create(tmp_path / "thesis.txt" / "run")


def test_only_a_directory_with_a_config_is_a_run(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"has no config.yaml"):
        RunDirectory.open(tmp_path)


def test_the_newest_checkpoint_is_that_of_the_last_step(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path)
    with pytest.raises(InvalidRun, match="no checkpoint yet"):
        directory.newest_checkpoint()
    for step in (99, 1099, 199):
        write_text(directory.checkpoints / f"{step_name(step)}.pt", "")

    assert directory.newest_checkpoint().name == "step_01099.pt"


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    wanted = tmp_path / "a.b"
    assert free_path(wanted) == wanted
    wanted.mkdir()
    assert free_path(wanted) == tmp_path / "a.b-2"
    (tmp_path / "a.b-2").mkdir()
    assert free_path(wanted) == tmp_path / "a.b-3"
    (tmp_path / "picture.png").touch()
    assert free_path(tmp_path / "picture.png") == tmp_path / "picture-2.png"


def test_a_broken_off_write_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    write_json(file, {"fap": 1})

    with pytest.raises(RuntimeError), replacing(file) as temporary:
        temporary.write_text("half a")
        raise RuntimeError

    assert json.loads(file.read_text()) == {"fap": 1}
    assert list(tmp_path.iterdir()) == [file]


def test_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "results.json", {"fap": float("nan")})

    assert not list(tmp_path.iterdir())


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()

    with appearing(tmp_path / "there") as folder:
        write_text(folder / "file", "content")
        assert not list((tmp_path / "there").iterdir())
    with pytest.raises(RuntimeError), appearing(tmp_path / "broken") as folder:
        write_text(folder / "file", "content")
        raise RuntimeError

    assert (tmp_path / "there" / "file").read_text() == "content"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
