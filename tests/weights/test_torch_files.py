"""Files of torch.save: tensors and plain values come as they were; whatever asks for more is refused, and not run."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from leocod.errors import InvalidData
from leocod.weights import torch_files
from leocod.weights.torch_files import load_tensors


class Asks:
    """Calls something when it is unpickled by anything that trusts it."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def refused(path: Path, said: str) -> None:
    with pytest.raises(InvalidData, match=rf"{path.name}.*{said}") as told:
        load_tensors(path)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < len(str(path)) + 400


@pytest.mark.parametrize("new", [True, False])
def test_tensors_and_plain_values_come_as_they_were(tmp_path: Path, new: bool) -> None:
    content = {
        "learner": OrderedDict(weight=nn.Parameter(torch.ones(2, 3)), count=torch.tensor(3), empty=torch.zeros(0)),
        "random": (torch.get_rng_state(), 2**100, [None, True, 0.5, "text", b"bytes"]),
        "shape": torch.Size([2, 3]),
        "kind": torch.float32,
    }
    torch.save(content, tmp_path / "a.pt", _use_new_zipfile_serialization=new)

    read = load_tensors(tmp_path / "a.pt")

    assert list(read) == list(content)
    assert torch.equal(read["learner"]["weight"], torch.ones(2, 3))
    assert read["random"][1:] == content["random"][1:]
    assert (read["shape"], read["kind"]) == (content["shape"], torch.float32)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere.pt", "no such file")


def test_a_file_too_large_is_told_with_its_size_and_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"w": torch.zeros(1)}, tmp_path / "a.pt")
    monkeypatch.setattr(torch_files, "LARGEST_FILE", 10)

    refused(tmp_path / "a.pt", r"has \d+ bytes: at most 10 are read")


def test_code_in_a_file_is_refused(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return Path.mkdir, (tmp_path / "made",)

    torch.save({"learner": Trap()}, tmp_path / "trap.pt")

    with pytest.raises(InvalidData, match=r"trap\.pt is refused, and nothing in it was run"):
        load_tensors(tmp_path / "trap.pt")

    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80\x02}.", b"PK\x03\x04 not a zip"])
def test_a_damaged_file_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.pt").write_bytes(content)

    with pytest.raises(InvalidData, match=r"broken\.pt"):
        load_tensors(tmp_path / "broken.pt")


def test_a_truncated_file_is_told(tmp_path: Path) -> None:
    whole = tmp_path / "whole.pt"
    torch.save({"w": torch.zeros(1000)}, whole)
    for length in (10, 500, 2000, whole.stat().st_size - 10):
        (tmp_path / "part.pt").write_bytes(whole.read_bytes()[:length])

        with pytest.raises(InvalidData, match=r"part\.pt cannot be read"):
            load_tensors(tmp_path / "part.pt")


def test_a_file_that_holds_something_else_is_told(tmp_path: Path) -> None:
    torch.save([1, 2], tmp_path / "list.pt")

    with pytest.raises(InvalidData, match="holds a list"):
        load_tensors(tmp_path / "list.pt")


@pytest.mark.parametrize("new", [True, False])
def test_memory_that_is_not_in_the_file_is_not_made(tmp_path: Path, new: bool) -> None:
    content = {"w": torch.zeros(1), "x": Asks(bytearray, 2**48)}
    torch.save(content, tmp_path / "a.pt", _use_new_zipfile_serialization=new)

    refused(tmp_path / "a.pt", r"asks for \w+\.bytearray")


def test_a_name_is_looked_at_however_a_pickle_gives_it(tmp_path: Path) -> None:
    torch.save({"x": Asks(bytearray, 3)}, tmp_path / "a.pt", pickle_protocol=4)

    refused(tmp_path / "a.pt", r"asks for \w+\.bytearray")


def test_a_compressed_archive_is_refused(tmp_path: Path) -> None:
    whole = io.BytesIO()
    torch.save({"w": torch.zeros(10_000)}, whole)
    with zipfile.ZipFile(whole) as there, zipfile.ZipFile(tmp_path / "a.pt", "w", zipfile.ZIP_DEFLATED) as packed:
        for member in there.infolist():
            packed.writestr(member.filename, there.read(member))

    refused(tmp_path / "a.pt", "it is compressed")


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    torch.save({"w": torch.zeros(1)}, tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt", "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(archive.namelist()[0], pickle.dumps({}))

    refused(tmp_path / "a.pt", "two of its members have the same name")


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.zeros(1).expand(2**40), "many times more numbers than the file"),
        (torch.eye(2).to_sparse(), "asks for"),
        (torch.zeros(2, device="meta"), "asks for"),
        (torch.zeros(2, dtype=torch.complex64), "tensor 'w' holds complex64"),
        (torch.zeros(2).to(torch.float8_e4m3fn), "asks for|tensor 'w' holds float8_e4m3fn"),
    ],
    ids=["expanded", "sparse", "meta", "complex", "float8"],
)
def test_tensors_that_no_network_takes_are_refused(tmp_path: Path, tensor: torch.Tensor, said: str) -> None:
    torch.save({"model": [{"w": tensor}]}, tmp_path / "a.pt")

    refused(tmp_path / "a.pt", said)


def test_an_old_file_cut_within_an_operation_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"\x80\x02X\x01")

    refused(tmp_path / "a.pt", "cannot be read as tensors")


def test_a_pickle_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"w": [1] * 100}, tmp_path / "a.pt")
    monkeypatch.setattr(torch_files, "MOST_OPERATIONS", 100)

    refused(tmp_path / "a.pt", "more than 100 operations")
