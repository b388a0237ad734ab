"""Pickles of arrays are read; nothing else in them is run."""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leocod.errors import InvalidData
from leocod.weights import pickles
from leocod.weights.pickles import read_arrays


def written(path: Path, content: Any, protocol: int = 4) -> Path:
    file = path / "weights.pkl"
    file.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol))
    return file


class Trap:
    """Makes a file when it is unpickled by anything that trusts it."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f2", "<f8", "<i8", "|u1", "|b1"])
def test_arrays_come_as_they_were_written(tmp_path: Path, protocol: int, kind: str) -> None:
    arrays = {
        "square": np.arange(6).reshape(2, 3).astype(kind),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3).astype(kind)),
        "strided": np.arange(12).astype(kind)[::2],
        "empty": np.zeros((0, 4), kind),
        "number": np.array(3).astype(kind),
        "scalar": np.dtype(kind).type(1),
    }

    read = read_arrays(written(tmp_path, {"model": arrays, "__author__": "somebody"}, protocol))

    assert list(read) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == np.asarray(array).dtype.newbyteorder("=")


@pytest.mark.parametrize("protocol", [2, 5])
def test_a_bare_dict_of_arrays_is_read_too(tmp_path: Path, protocol: int) -> None:
    arrays = OrderedDict(weight=np.ones(3, np.float32))

    assert read_arrays(written(tmp_path, arrays, protocol))["weight"].tolist() == [1, 1, 1]


def test_a_pickle_of_python_2_and_of_an_older_numpy_is_read(tmp_path: Path) -> None:
    # As Python 2 wrote {"w": array([1.0, 2.0], float32)}: texts are bytes, and numpy.core had no underscore.
    pickled = (
        b"\x80\x02}U\x01wcnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        b"(K\x01K\x02\x85cnumpy\ndtype\nU\x02f4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x08\x00\x00\x80?\x00\x00\x00@tbs."
    )

    assert read_arrays(written(tmp_path, pickled))["w"].tolist() == [1, 2]


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("place", ["alone", "beside", "within", "as a name"])
def test_code_in_a_pickle_is_named_and_not_run(tmp_path: Path, protocol: int, place: str) -> None:
    made = tmp_path / "made"
    trap = Trap(os.system, f"touch {made}")
    contents = {
        "alone": trap,
        "beside": {"model": {"w": np.ones(1)}, "__author__": [("deep", {"x": trap})]},
        "within": {"model": {"w": trap}},
        "as a name": {"model": {trap: np.ones(1)}},
    }

    with pytest.raises(InvalidData, match=r"weights\.pkl is refused, and nothing in it was run: .*(posix|nt)\.system"):
        read_arrays(written(tmp_path, contents[place], protocol))

    assert not made.exists()


@pytest.mark.parametrize(
    ("function", "arguments", "told"),
    [
        (eval, ("1",), r"(builtins|__builtin__)\.eval"),
        (exec, ("",), r"(builtins|__builtin__)\.exec"),
        (getattr, ("a", "upper"), r"getattr"),
        (__import__, ("os",), "__import__"),
        (bytes, (1 << 40,), "not a whole pickle"),
        (np.load, ("x",), r"numpy\.load"),
        (np.frombuffer, (b"1234",), "frombuffer"),
        (bytearray, (5,), "bytearray"),
        (set, ([1],), "set"),
        (OrderedDict, ([("a", 1)],), "not a whole pickle"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_whatever_arrays_do_not_need_is_refused(
    tmp_path: Path, function: Any, arguments: Any, told: str, protocol: int
) -> None:
    with pytest.raises(InvalidData, match=told):
        read_arrays(written(tmp_path, {"w": Trap(function, *arguments)}, protocol))


@pytest.mark.parametrize("protocol", [2, 4])
def test_arrays_of_objects_or_records_are_refused(tmp_path: Path, protocol: int) -> None:
    records = np.zeros(2, [("a", "f4"), ("b", "i4")])

    with pytest.raises(InvalidData, match="not numbers"):
        read_arrays(written(tmp_path, {"w": np.array([{}, []], object)}, protocol))
    with pytest.raises(InvalidData, match="not numbers"):
        read_arrays(written(tmp_path, {"w": records}, protocol))


def test_encoding_is_for_latin1_only(tmp_path: Path) -> None:
    import _codecs

    with pytest.raises(InvalidData, match="encode a text as 'zlib'"):
        read_arrays(written(tmp_path, {"w": Trap(_codecs.encode, "x", "zlib")}, 2))


def test_a_memo_number_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    huge = b"\x80\x04}r\xf0\xff\xff\x7f."

    with pytest.raises(InvalidData, match="remembers value 2147483632"):
        read_arrays(written(tmp_path, huge))


def test_an_array_written_once_and_named_often_is_refused(tmp_path: Path) -> None:
    once = np.ones(1000, np.float32)

    with pytest.raises(InvalidData, match="more bytes than the file"):
        read_arrays(written(tmp_path, {str(number): once for number in range(100)}))


def test_a_text_written_once_and_encoded_often_is_refused(tmp_path: Path) -> None:
    text = b"\x80\x02(X\x00\x10\x00\x00" + b"x" * 4096 + b"q\x00"
    encode = b"c_codecs\nencode\nh\x00X\x06\x00\x00\x00latin1\x86R"

    with pytest.raises(InvalidData, match="makes more bytes than the file"):
        read_arrays(written(tmp_path, text + 20 * encode + b"l."))


def test_a_pickle_of_too_many_operations_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickles, "MOST_OPERATIONS", 100)

    with pytest.raises(InvalidData, match="more than 100 operations"):
        read_arrays(written(tmp_path, b"\x80\x02" + 1000 * b"]0" + b"}."))


def test_a_file_that_is_too_large_is_not_even_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickles, "LARGEST_FILE", 100)

    with pytest.raises(InvalidData, match=r"has \d+ bytes: at most 100 are read"):
        read_arrays(written(tmp_path, {"w": np.zeros(100)}))


@pytest.mark.parametrize(
    "operation",
    [b"cos\nsystem\n)\x81", b"\x82\x01", b"P0\n", b"(cos\nsystem\no", b"(ios\nsystem\n", b"\x97"],
    ids=["NEWOBJ", "EXT1", "PERSID", "OBJ", "INST", "NEXT_BUFFER"],
)
def test_other_ways_to_make_objects_are_refused(tmp_path: Path, operation: bytes) -> None:
    with pytest.raises(InvalidData, match="refused"):
        read_arrays(written(tmp_path, b"\x80\x05" + operation + b"."))


def test_a_pickle_cannot_change_what_answers_it(tmp_path: Path) -> None:
    changing = b"\x80\x02cnumpy\ndtype\n}X\x05\x00\x00\x00_callNsb."

    with pytest.raises(InvalidData, match="changes a function"):
        read_arrays(written(tmp_path, changing))


@pytest.mark.parametrize("state", ["shape", "bytes", "negative"])
def test_an_array_whose_bytes_do_not_fit_its_shape_is_refused(tmp_path: Path, state: str) -> None:
    whole = pickle.dumps({"w": np.arange(4, dtype=np.float32)}, 2)
    broken = {
        "shape": whole.replace(b"K\x04\x85", b"K\x05\x85"),
        "bytes": whole.replace(b"K\x04\x85", b"N\x85"),
        "negative": whole.replace(b"K\x04\x85", b"J\xfc\xff\xff\xff\x85"),
    }[state]
    assert broken != whole

    with pytest.raises(InvalidData, match="array"):
        read_arrays(written(tmp_path, broken))


def test_a_truncated_file_is_told_wherever_it_ends(tmp_path: Path) -> None:
    whole = pickle.dumps({"model": {"w": np.arange(3, dtype=np.float32)}}, 2)

    for length in (*range(0, len(whole), 7), len(whole) - 1):
        with pytest.raises(InvalidData, match="not a whole pickle"):
            read_arrays(written(tmp_path, whole[:length]))


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_file_with_a_byte_changed_is_read_or_refused_and_nothing_else(tmp_path: Path, protocol: int) -> None:
    whole = pickle.dumps({"model": {"w": np.arange(3, dtype=np.float32)}}, protocol)
    random = np.random.default_rng(0)

    for _ in range(200):
        damaged = bytearray(whole)
        damaged[int(random.integers(len(whole)))] = int(random.integers(256))
        try:
            read_arrays(written(tmp_path, bytes(damaged)))
        except InvalidData:
            continue


@pytest.mark.parametrize("content", [[1, 2], {}, {"model": []}, {"model": {"w": 3}}, {1: 2}, "text", None])
def test_a_pickle_without_arrays_is_told(tmp_path: Path, content: Any) -> None:
    with pytest.raises(InvalidData, match="no dict of arrays|not an array"):
        read_arrays(written(tmp_path, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"nowhere\.pkl cannot be read"):
        read_arrays(tmp_path / "nowhere.pkl")


def test_the_traps_would_spring_in_an_unpickler_that_trusts_them(tmp_path: Path) -> None:
    made = tmp_path / "made"

    pickle.load(io.BytesIO(pickle.dumps(Trap(os.mkdir, str(made)))))

    assert made.exists()


def test_odd_names_in_a_pickle_are_told_in_one_short_line(tmp_path: Path) -> None:
    odd = written(tmp_path, b"cx\x1b" + b"y" * 5000 + b"\nz\n.")

    with pytest.raises(InvalidData, match="is refused") as told:
        read_arrays(odd)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < len(str(odd)) + 400
