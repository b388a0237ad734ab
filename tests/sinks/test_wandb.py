"""A W&B run, offline: written below the run directory, and continued under the same id."""

from __future__ import annotations

from pathlib import Path

import pytest
import wandb

from leocod.errors import InvalidConfig
from leocod.files.run_directory import RunDirectory
from leocod.sinks import base
from leocod.sinks.base import RunInfo
from leocod.sinks.wandb import Wandb, WandbOptions


def a_sink(folder: Path) -> Wandb:
    folder.mkdir(exist_ok=True)
    return Wandb(WandbOptions(mode="offline"), run=RunInfo(RunDirectory(folder), {"seed": 3}))


@pytest.fixture(autouse=True)
def _silent(monkeypatch):
    monkeypatch.setenv("WANDB_SILENT", "true")


def test_curves_and_config_are_in_the_file_that_wandb_sync_uploads(events, tmp_path):
    with a_sink(tmp_path / "run") as sink:
        for event in events:
            sink(event)

    (file,) = (tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")
    # W&B's own process writes the file; on a busy machine it may be done a little later than the run.
    wandb.teardown()
    content = file.read_bytes()
    assert b"AP50 by class/chair" in content
    assert b"loss/current/region_class" in content
    assert b"seed" in content


def test_a_resumed_run_continues_under_the_same_id(events, tmp_path):
    with a_sink(tmp_path / "run") as first:
        first(events[0])
    second = a_sink(tmp_path / "run")
    second.load_state_dict(first.state_dict())

    with second:
        second(events[0])

    assert second.state_dict() == first.state_dict()
    assert second.state_dict()["id"]


def test_without_the_package_the_message_says_how_to_install_it(monkeypatch, tmp_path):
    def missing(name):
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr(base, "import_module", missing)

    with pytest.raises(InvalidConfig, match=r"sinks has `wandb`, .*pip install 'leocod\[wandb\]'"):
        a_sink(tmp_path)
