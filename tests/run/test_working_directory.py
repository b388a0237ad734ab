import json
from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidConfig, InvalidData, InvalidRun, LeocodError
from leocod.files.run_directory import RunDirectory
from leocod.run.working_directory import change_to_start, describe_working_directory, explain_lost_paths

CONFIG: dict[str, Any] = {
    "benchmark": {"name": "video", "source": "data/kitchen.mp4", "labels": None},
    "detector": {"name": "tiny", "weights": "start"},
}


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """A run that was started in `project`, whose data are there; the current directory is `elsewhere`."""
    project, run = tmp_path / "project", tmp_path / "project" / "runs" / "one"
    (project / "data").mkdir(parents=True)
    (project / "data" / "kitchen.mp4").touch()
    run.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(project)
    (run / "environment.json").write_text(json.dumps(describe_working_directory(Path("runs/one"))))
    monkeypatch.chdir(tmp_path / "elsewhere")
    return RunDirectory(Path("../project/runs/one"))


def test_a_run_is_resumed_where_it_was_started_if_its_paths_lead_nowhere_from_here(started: RunDirectory) -> None:
    here = Path.cwd()

    with change_to_start(started, CONFIG) as directory:
        assert Path.cwd() == here.parent / "project"
        assert directory.environment.is_file()

    assert Path.cwd() == here


def test_a_project_may_have_moved(started: RunDirectory, tmp_path: Path) -> None:
    (tmp_path / "project").rename(tmp_path / "renamed")

    with change_to_start(RunDirectory(Path("../renamed/runs/one")), CONFIG):
        assert Path.cwd() == tmp_path / "renamed"


def test_nothing_changes_where_the_paths_lead_to_files_here(started: RunDirectory) -> None:
    here = Path.cwd()
    (here / "data").mkdir()
    (here / "data" / "kitchen.mp4").touch()

    with change_to_start(started, CONFIG) as directory:
        assert Path.cwd() == here
        assert directory is started


@pytest.mark.parametrize(
    "environment", [None, "{", "[]", "{}", '{"working_directory": 3}', '{"working_directory": "gone"}']
)
def test_a_start_that_nobody_knows_changes_nothing(started: RunDirectory, environment: str | None) -> None:
    here = Path.cwd()
    started.environment.unlink()
    if environment is not None:
        started.environment.write_text(environment)

    with change_to_start(started, CONFIG):
        assert Path.cwd() == here


@pytest.mark.parametrize("kind", [InvalidData, InvalidRun])
def test_an_error_about_a_lost_path_says_where_to_go_and_what_to_call(
    started: RunDirectory, kind: type[LeocodError]
) -> None:
    with (
        pytest.raises(InvalidConfig) as caught,
        explain_lost_paths(started, CONFIG, "run --resume"),
    ):
        raise kind("data/kitchen.mp4: no such file.")

    assert "(benchmark.source: data/kitchen.mp4), which leads nowhere from here" in str(caught.value)
    assert str(caught.value).endswith(f"call: leocod run --resume {started.path.absolute()}")


def test_another_error_stays_as_it_is(started: RunDirectory) -> None:
    with (
        pytest.raises(InvalidData, match="^The disk is full.$"),
        explain_lost_paths(started, CONFIG, "run --resume"),
    ):
        raise InvalidData("The disk is full.")


@pytest.mark.parametrize(
    "config",
    [
        {"benchmark": {"name": "video", "source": ["data/kitchen.mp4", "data/hall.mp4"]}},
        {"evaluate": {"also": ["data/kitchen.mp4"], "metrics": ["fap"]}},
        {"earlier_run": "data/kitchen.mp4"},
        {"new_labels_since": "data/kitchen.mp4"},
    ],
)
def test_every_key_that_may_hold_paths_is_looked_at(started: RunDirectory, config: dict[str, Any]) -> None:
    here = Path.cwd()

    with change_to_start(started, config):
        assert Path.cwd() == here.parent / "project"
