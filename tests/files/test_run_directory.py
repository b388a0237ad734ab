import subprocess
import sys
from pathlib import Path

import pytest

from leocod.errors import InvalidRun, RunExists
from leocod.files.atomic import write_text
from leocod.files.run_directory import (
    RunDirectory,
    find_free_path,
    list_by_step,
    list_packed_events,
    list_runs,
    packed_path,
)
from leocod.run.config import load_config


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


def test_hidden_files_do_not_make_a_directory_taken(tmp_path: Path) -> None:
    for name in (".lock", ".config.yaml.123.part", ".DS_Store"):
        (tmp_path / name).touch()

    assert RunDirectory.create(tmp_path).path == tmp_path
    write_text(tmp_path / "config.yaml", "")
    with pytest.raises(RunExists):
        RunDirectory.create(tmp_path)


HOLDS = """
import sys
from pathlib import Path
from leocod.files.run_directory import RunDirectory

with RunDirectory(Path(sys.argv[1])).lock():
    print("mine", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_gone_however_it_goes(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "mine\n"

        with pytest.raises(RunExists, match=f"{tmp_path} is in use: another process runs there"), directory.lock():
            pytest.fail("two have it")
        first.kill()
        first.wait()

    with directory.lock():
        pass


def test_the_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)

    with pytest.raises(RuntimeError), directory.lock():
        raise RuntimeError

    with directory.lock():
        pass


def test_a_directory_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()

    with pytest.raises(InvalidRun, match="cannot be written to"), RunDirectory(tmp_path).lock():
        pass


def test_what_a_killed_process_left_half_written_is_swept_and_nothing_else(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    ours = [tmp_path / ".results.json.99.part", directory.checkpoints / ".step_00001.pt.99.part"]
    ours += [folder / ".a.1.part" for folder in (directory.earlier_events, directory.detections, directory.samples)]
    others = [tmp_path / ".lock", tmp_path / "notes.part", directory.checkpoints / "step_00001.pt"]
    others += [tmp_path / "predictions" / ".mine.1.part"]
    for path in (*ours, *others):
        path.parent.mkdir(exist_ok=True)
        path.touch()

    directory.sweep()

    assert [path.name for path in ours if path.exists()] == []
    assert [path.name for path in others if not path.exists()] == []


def test_checkpoints_after_the_one_that_is_used_are_set_aside(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    for step in range(4):
        write_text(directory.checkpoints / f"step_0000{step}.pt", "")

    directory.set_aside(None, -1)
    assert len(list_by_step(directory.checkpoints, ".pt")) == 4
    directory.set_aside(directory.checkpoints / "step_00001.pt", 1)

    assert sorted(path.name for path in directory.checkpoints.iterdir()) == [
        *("step_00000.pt", "step_00001.pt", "step_00002.pt.damaged", "step_00003.pt.damaged")
    ]


def test_files_are_in_the_order_of_their_steps_however_many_digits(tmp_path: Path) -> None:
    for name in ("step_00099.pt", "step_100000.pt", "step_99999.pt", "step_new.pt", "step_00001.json", "other.pt"):
        (tmp_path / name).touch()

    assert [path.name for path in list_by_step(tmp_path, ".pt")] == ["step_00099.pt", "step_99999.pt", "step_100000.pt"]
    assert list_by_step(tmp_path / "nowhere", ".pt") == []


def test_packed_events_are_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for step in (100_000, 9, 99_999):
        packed_path(tmp_path, step).touch()
    (tmp_path / "until_now.jsonl.gz").touch()

    assert list(list_packed_events(tmp_path)) == [9, 99_999, 100_000]
    assert list_packed_events(tmp_path)[9] == packed_path(tmp_path, 9)


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    wanted = tmp_path / "a.b"
    assert find_free_path(wanted) == wanted
    wanted.mkdir()
    assert find_free_path(wanted) == tmp_path / "a.b-2"
    (tmp_path / "a.b-2").mkdir()
    assert find_free_path(wanted) == tmp_path / "a.b-3"
    (tmp_path / "picture.png").touch()
    assert find_free_path(tmp_path / "picture.png") == tmp_path / "picture-2.png"


def test_detections_of_later_steps_are_removed_and_no_others(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    for step in (0, 1, 2, 100_000):
        write_text(directory.detections / f"step_{step:05d}.json", "")
    write_text(directory.detections / "step_mine.json", "")

    directory.set_aside(None, 1)

    assert sorted(path.name for path in directory.detections.iterdir()) == [
        *("step_00000.json", "step_00001.json", "step_mine.json")
    ]


def test_a_run_has_finished_when_its_last_files_are_there(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    write_text(directory.config, "")
    write_text(directory.checkpoints / "step_00041.pt", "")

    with pytest.raises(InvalidRun, match=f"has not finished.*leocod run --resume {tmp_path}"):
        directory.require_finished()
    assert str(directory.describe_progress()).endswith("has not finished: this is what it had learnt after step 42.")

    write_text(directory.results, "")
    write_text(directory.memory, "")
    directory.require_finished()
    assert directory.describe_progress() is None


def test_a_live_run_has_no_end(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    write_text(directory.config, "")
    write_text(directory.checkpoints / "step_00041.pt", "")
    write_text(tmp_path / "journal.jsonl", "")

    with pytest.raises(InvalidRun, match="is a live run. It has no end"):
        directory.require_finished()
    assert directory.describe_progress() is None


def test_runs_in_a_folder_come_in_natural_order(tmp_path: Path) -> None:
    for name in ("b10", "b9", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.yaml").touch()
    (tmp_path / "no run").mkdir()

    assert [path.name for path in list_runs(tmp_path)] == ["a", "b9", "b10"]


def test_a_run_directory_is_no_folder_of_runs(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "config.yaml").touch()

    assert list_runs(tmp_path) == []
    assert list_runs(tmp_path / "not there") == []
