"""`fn.readers.safetensors`: tensors, rows and matches of names in safetensors files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._readers.formats.safetensors import Safetensors
from dali_core.errors import ArgumentValueError
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import Sample, read
from tests.mutated_formats import outcomes
from tests.operators.suite import ALL_TYPES, Example, numbers

NAMES = {"bool": "BOOL", "int8": "I8", "uint8": "U8"}


def save(path: Path, tensors: dict[str, np.ndarray], **kinds: str) -> str:
    """Write a file; `kinds` are names of types that NumPy has not."""
    header, place = {"__metadata__": {"made": "here"}}, 0
    for name, array in tensors.items():
        size = array.dtype.itemsize * 8
        kind = kinds.get(name) or NAMES.get(array.dtype.name, f"{array.dtype.kind}{size}".upper())
        offsets = [place, place := place + array.nbytes]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": offsets}  # type: ignore[dict-item]
    text = json.dumps(header).encode()
    data = b"".join(array.tobytes() for array in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return str(path)


def whole(folder: Path, **arguments: Any) -> dict[str, Any]:
    for n in range(9):
        tensors = {"latent": numbers("float16", (4, 3), n), "text": numbers("int64", (5,), n)}
        save(folder / f"{n}.safetensors", tensors)
    return {"file_root": str(folder), "tensors": ["text", "latent"], **arguments}


def rows(folder: Path, **arguments: Any) -> dict[str, Any]:
    files = []
    for count in (5, 0, 6):
        tensors = {name: numbers("int16", (count, 2), count) for name in "ab"}
        files.append(save(folder / f"{count}.safetensors", tensors))
    return {"files": files, "tensors": ["b", "a"], "rows": True, **arguments}


def matches(folder: Path, **arguments: Any) -> dict[str, Any]:
    files = []
    for first in (0, 6):
        tensors = {f"x_{n}": np.full(n, n, np.int32) for n in range(first + 6, first, -1)}
        files.append(save(folder / f"{first}.safetensors", {"other": np.ones(2), **tensors}))
    return {"files": files, "tensors": "x_*", **arguments}


EXAMPLES = [
    Example("files", (), partial(whole, random_shuffle=True)),
    Example("rows", (), rows),
    Example("matches", (), matches),
]


class TestFiles(ReaderSuite):
    format = Safetensors()
    num_samples = 9
    write = staticmethod(whole)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "4.safetensors").write_bytes(b"short")
        save(folder / "6.safetensors", {"text": np.zeros(3)})
        return {
            4: "4.safetensors': bytes 0 to 8 must be in the file",
            6: "6.safetensors': there is no tensor 'latent' in it",
        }


class TestRows(ReaderSuite):
    format = Safetensors()
    num_samples = 11
    write = staticmethod(rows)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "6.safetensors").write_bytes(b"short")
        return dict.fromkeys(range(5, 11), "6.safetensors': the file must be as long")


class TestMatches(ReaderSuite):
    format = Safetensors()
    num_samples = 12
    write = staticmethod(matches)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "0.safetensors").unlink()
        return dict.fromkeys(range(6), "0.safetensors': [Errno 2]")


def found(path: str, tensors: Any, count: int = 1, **arguments: Any) -> list[Sample]:
    return read("readers.safetensors", {"files": path, "tensors": tensors, **arguments}, count)


def test_values_are_those_of_the_format_s_own_reader(tmp_path: Path) -> None:
    own = pytest.importorskip("safetensors.numpy", reason="not available: safetensors")
    tensors = {kind: numbers(kind, (3, 1, 2), 1) for kind in ALL_TYPES}
    tensors |= {"scalar": np.array(2.5), "none": np.zeros((0, 3), np.float32)}
    own.save_file(tensors, tmp_path / "a.safetensors", {"some": "metadata"})
    (sample,) = found(str(tmp_path / "a.safetensors"), list(tensors))
    expected = own.load_file(tmp_path / "a.safetensors")
    for name, array in zip(tensors, sample, strict=True):
        np.testing.assert_array_equal(array, expected[name], strict=True)


def test_small_floats_become_float32(tmp_path: Path) -> None:
    every = np.arange(256, dtype=np.uint8)
    path = save(
        tmp_path / "a.safetensors",
        {"a": np.uint16([0x3F80, 0xC049, 0x7F80]), "b": every, "c": every},
        a="BF16",
        b="F8_E4M3",
        c="F8_E5M2",
    )
    ((a, b, c),) = found(path, ["a", "b", "c"])
    assert a.tolist() == [1, -3.140625, np.inf]
    assert {part.dtype.name for part in (a, b, c)} == {"float32"}
    # The smallest, the largest subnormal, the smallest normal, one, and the largest.
    assert b[[0, 1, 7, 8, 0x38, 0x7E, 0xB8]].tolist() == [
        *(0, 2.0**-9, 7 * 2.0**-9, 2.0**-6),
        *(1, 448, -1),
    ]
    assert np.isnan(b[[0x7F, 0xFF]]).all()
    assert c[[1, 0x3C, 0x7B, 0x7C, 0xBC]].tolist() == [2.0**-16, 1, 57344, np.inf, -1]


def test_matches_come_in_natural_order(tmp_path: Path) -> None:
    arguments = matches(tmp_path)
    samples = read("readers.safetensors", arguments, 12)
    assert [sample[0].shape for sample in samples] == [(n,) for n in range(1, 13)]
    source, _ = TestMatches().open(arguments)
    assert source.lengths is not None
    assert source.lengths.tolist() == [4 * n for n in range(1, 13)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tensors": "z"}, r"there is no tensor 'z' in it"),
        ({"tensors": ["a", "odd"]}, r"tensor 'odd' must be of a type .*got 'F4'"),
        ({"tensors": ["a", "b"], "rows": True}, r"equally many rows .*\(2,\), \(3,\)"),
        ({"tensors": ["s"], "rows": True}, r"equally many rows .*\(\)"),
        ({"tensors": ["z*"]}, r"nothing in it matches 'z\*'"),
        ({"tensors": ["u*", "v*"]}, r"'v\*' must match for the same texts as 'u\*' .*for '2'"),
        ({"tensors": ["a*", "b"]}, r"patterns must each have one '\*'"),
        ({"tensors": ["a*"], "rows": True}, r"rows must be False"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    tensors = {"a": np.zeros(2), "b": np.zeros(3), "s": np.zeros(()), "odd": np.zeros(0, np.uint8)}
    tensors |= {name: np.zeros(1) for name in ("u1", "u2", "v1")}
    path = save(tmp_path / "a.safetensors", tensors, odd="F4")
    with pytest.raises(ArgumentValueError, match=message):
        found(path, **arguments)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ('{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":1}', "must not be repeated"),
        ('{"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}', "must begin at byte 0"),
        ('{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}}', "as many bytes as its shape"),
        ('{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}', r"must have 63 bytes .it has 64"),
        ('{"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}}', "must be numbers from 0 on"),
        ('{"a":{"dtype":"U8","shape":%s,"data_offsets":[0,2]}}' % ([2**62] * 40), "32 dimensions"),
        ("[" * 100_000, "must be that of safetensors"),
        ("[]", "must be that of safetensors"),
    ],
)
def test_hostile_headers(header: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(3))
    with pytest.raises(ArgumentValueError, match=message):
        found(str(path), "a")


def test_mutated_files(tmp_path: Path) -> None:
    counts = outcomes(TestFiles(), tmp_path, 0, 100)
    assert counts["refused"] + counts["bad"] > 20
    assert counts["read"] > 20
