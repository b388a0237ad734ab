"""Disks that are full, or cannot be written to."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from digests import digests
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from whole import whole

from leocod.errors import InvalidRun
from leocod.run.config import ExperimentConfig
from leocod.run.session import resume_experiment, run_experiment
from leocod.sinks.tensorboard import CurveFile


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# The config has some 2,000 bytes, and test.json a hundred more: a new option may call for another size here.
@pytest.mark.parametrize(
    ("size", "refused"), [(1_000, "config.yaml"), (2_050, "test.json"), (100_000, "step_00001.pt")]
)
def test_a_file_that_cannot_grow_ends_the_run_in_one_line_and_it_goes_on_the_same(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str], size: int, refused: str
) -> None:
    run = Path("run")

    with largest_file(size), pytest.raises(InvalidRun, match=f"{refused}.* cannot be written .File too large") as told:
        run_experiment(a_config(), run)

    assert len(str(told.value).splitlines()) == 1
    assert whole(run) == []
    # What has no config has not begun.
    (resume_experiment if (run / "config.yaml").exists() else run_experiment)(a_config(), run)
    assert digests(run) == undisturbed
    assert list(run.rglob(".*.part")) == []


def test_a_disk_that_fills_up_midway_leaves_whole_lines_and_whole_curves(
    a_config: Callable[..., ExperimentConfig], at: Callable[..., object], undisturbed: dict[str, str]
) -> None:
    run = Path("run")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full() -> None:
        size = (run / "events.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))

    try:
        with pytest.raises(InvalidRun, match="File too large"):
            run_experiment(a_config(), run, [at(2, full)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert whole(run) == []
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed


def test_curves_that_cannot_grow_are_told_of_by_whoever_writes_and_end_with_a_whole_record(tmp_path: Path) -> None:
    threads = threading.active_count()
    curves = CurveFile(tmp_path)

    with largest_file(1_000), pytest.raises(OSError, match="File too large"):
        for step in range(100):
            curves.add_scalar("loss", 0.5, step)
    curves.close()

    (file,) = tmp_path.iterdir()
    records = list(RawEventFileLoader(str(file)).Load())
    assert len(records) > 10
    # A length and two checksums about each record, and nothing behind the last one.
    assert file.stat().st_size == sum(len(record) + 16 for record in records)
    assert threading.active_count() == threads


@pytest.mark.parametrize("name", ["labels.json", "checkpoints", "report.html"])
def test_something_in_the_way_of_a_file_is_named_and_once_it_is_gone_the_run_goes_on_the_same(
    a_config: Callable[..., ExperimentConfig], at: Callable[..., object], undisturbed: dict[str, str], name: str
) -> None:
    run, in_the_way = Path("run"), Path("run") / name

    def block() -> None:
        # A folder cannot be replaced by a file, and nothing can be in a file.
        (in_the_way / "other").mkdir(parents=True) if in_the_way.suffix else in_the_way.write_text("other")

    with pytest.raises(InvalidRun, match=name):
        run_experiment(a_config(), run, [at(0, block)])

    shutil.rmtree(in_the_way) if in_the_way.is_dir() else in_the_way.unlink()
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed


@pytest.mark.skipif(not os.geteuid(), reason="to the superuser no permission applies; `make soak` tries it")
def test_a_run_below_a_read_only_folder_is_refused_in_one_line(
    a_config: Callable[..., ExperimentConfig], tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)

    with pytest.raises(InvalidRun, match="closed/run cannot be made .Permission denied.*Choose another --out"):
        run_experiment(a_config(), tmp_path / "closed" / "run")


@pytest.fixture
def a_small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that takes one checkpoint and a bit."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "leocod", disk], capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here: needs the superuser")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_full_disk_ends_the_run_in_one_line_and_with_more_room_it_goes_on_the_same(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str], a_small_disk: Path
) -> None:
    run = a_small_disk / "run"

    with pytest.raises(InvalidRun, match="step_00003.pt.* cannot be written .No space left on device"):
        run_experiment(a_config(), run)

    assert whole(run) == []
    subprocess.run(["mount", "-o", "remount,size=200m", a_small_disk], check=True)
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed
