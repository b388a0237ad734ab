"""The options of a memory."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from leocod.errors import InvalidConfig, UnknownName
from leocod.files.documents import parse_yaml
from leocod.memory.options import MemorySettings
from leocod.run.config import load_config, load_mapping


def test_the_defaults_are_five_raw_frames_of_each_class():
    assert MemorySettings().model_dump() == {
        "memory_per_class": 5,
        "memory_bytes": None,
        "memory_store": "balanced",
        "memory_intake": None,
        "memory_replacement": None,
        "memory_encoding": "raw",
        "memory_jpeg_quality": 90,
    }


def test_frames_or_bytes_may_be_without_a_limit_but_not_both():
    assert MemorySettings(memory_per_class=None, memory_bytes=1000).memory_per_class is None
    with pytest.raises(ValidationError, match="one of them must limit the memory"):
        MemorySettings(memory_per_class=None)


def test_a_quality_without_jpeg_is_refused():
    assert MemorySettings(memory_encoding="jpeg", memory_jpeg_quality=50).memory_jpeg_quality == 50
    with pytest.raises(ValidationError, match="memory_jpeg_quality is 50, but memory_encoding is raw"):
        MemorySettings(memory_jpeg_quality=50)


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory_per_class": 0},
        {"memory_bytes": 0},
        {"memory_encoding": "png"},
        {"memory_encoding": "jpeg", "memory_jpeg_quality": 96},
        {"memory_encoding": "jpeg", "memory_jpeg_quality": 0},
    ],
    ids=str,
)
def test_values_out_of_range_are_refused(wrong):
    with pytest.raises(ValidationError):
        MemorySettings(**wrong)


def test_policies_are_found_when_the_options_are_read():
    with pytest.raises(UnknownName, match="Did you mean 'random'"):
        MemorySettings(memory_store="ramdom")
    with pytest.raises(UnknownName, match="Did you mean 'fifo'"):
        MemorySettings(memory_replacement="fif")
    assert MemorySettings(memory_store="leocod.memory.stores.random:Random").memory_store.endswith("Random")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"memory_per_class": None}, "strategy: memory_per_class and memory_bytes are both null: one of them must"),
        (
            {"memory_jpeg_quality": 50},
            "strategy: memory_jpeg_quality is 50, but memory_encoding is raw: set it to jpeg",
        ),
        ({"memory_bytes": 0}, "strategy.memory_bytes is 0: it should be at least 1."),
        ({"memory_jpeg_quality": 99}, "strategy.memory_jpeg_quality is 99: it should be at least 1 and at most 95."),
        ({"memory_encoding": "png"}, "strategy.memory_encoding is 'png': it should be 'raw' or 'jpeg'."),
        ({"memory_store": "balance"}, "No memory store 'balance'. Did you mean 'balanced'?"),
        ({"memory_store": 5}, "strategy.memory_store is 5: it should be a valid string."),
        ({"memory_replacement": "nowhere:Mine"}, "No module 'nowhere' (for the memory replacement 'nowhere:Mine')."),
    ],
    ids=str,
)
def test_in_a_config_each_mistake_is_one_line(setting, message):
    with pytest.raises(InvalidConfig) as error:
        load_config(None, [{"strategy": setting}])

    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_config_reads_back_as_it_was_written():
    config = load_config(
        None, [{"strategy": {"memory_per_class": None, "memory_bytes": 10**6, "memory_encoding": "jpeg"}}]
    )

    assert load_mapping(parse_yaml(config.to_yaml())) == config
