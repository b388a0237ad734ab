"""A live stream is no benchmark, and says what to use."""

from __future__ import annotations

import pytest

from leocod.benchmarks.live import Live, LiveOptions
from leocod.errors import InvalidConfig
from leocod.run.config import load_mapping
from leocod.run.experiment import build


def test_it_cannot_be_run_and_says_what_to_use() -> None:
    with pytest.raises(InvalidConfig, match="leocod live rtsp://cam"):
        Live(LiveOptions(source="rtsp://cam"))


def test_a_config_of_a_live_run_is_valid_but_no_experiment() -> None:
    config = load_mapping({"benchmark": {"name": "live"}, "detector": "tiny", "strategy": "icarl"})

    assert config.frames_per_step == 16
    with pytest.raises(InvalidConfig, match="no true labels and no end"):
        build(config)
