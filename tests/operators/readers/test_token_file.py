"""`fn.readers.token_file`: sequences and documents of indexed token files."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._readers.formats.token_file import TokenFile
from dali_core.errors import ArgumentValueError
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import Sample, read
from tests.mutated_formats import outcomes
from tests.operators.suite import Example, numbers

CODES = {
    "uint8": 1,
    "int8": 2,
    "int16": 3,
    "int32": 4,
    "int64": 5,
    "float64": 6,
    "float32": 7,
    "uint16": 8,
}


def save(
    path: Path, documents: Sequence[Sequence[np.ndarray]], *, modes: bool = False
) -> list[np.ndarray]:
    """Write a file and its index, as Megatron does; return the sequences."""
    sequences = [sequence for document in documents for sequence in document]
    lengths = np.array([len(sequence) for sequence in sequences], "<i4")
    pointers = np.cumsum([0, *(sequence.nbytes for sequence in sequences)])[:-1]
    bounds = np.cumsum([0, *map(len, documents)])
    counts = (1, CODES[sequences[0].dtype.name], len(lengths), len(bounds))
    index = b"MMIDIDX\0\0" + struct.pack("<QBQQ", *counts) + lengths.tobytes()
    index += pointers.astype("<i8").tobytes() + bounds.astype("<i8").tobytes()
    path.with_suffix(".idx").write_bytes(index + bytes(len(sequences) if modes else 0))
    path.with_suffix(".bin").write_bytes(b"".join(sequence.tobytes() for sequence in sequences))
    return sequences


def tokens(dtype: str = "uint16") -> list[list[np.ndarray]]:
    """Return documents of several sequences, of one, of none, and of an empty one."""
    sizes = [[3, 1], [5], [], [0], [2, 4, 6, 1], [7]]
    return [[numbers(dtype, (size,), size) for size in document] for document in sizes]


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    save(folder / "a.bin", tokens())
    save(folder / "b.bin", tokens()[::-1], modes=True)
    return {"paths": [str(folder / "a"), str(folder / "b.bin")], **arguments}


EXAMPLES = [
    Example("sequences", (), example),
    Example("documents", (), partial(example, documents=True, random_shuffle=True)),
]


class TestSequences(ReaderSuite):
    format = TokenFile()
    num_samples = 18
    write = staticmethod(example)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "b.bin").write_bytes(b"")
        # Nothing is read for the sequence without tokens.
        bad = [number for number in range(9, 18) if number != 14]
        return dict.fromkeys(bad, "b.bin': the file must be as long as when")


class TestDocuments(TestSequences):
    num_samples = 12

    def write(self, folder: Path) -> dict[str, Any]:
        return example(folder, documents=True)

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "b.bin").unlink()
        return dict.fromkeys((6, 7, 10, 11), "b.bin': [Errno 2]")


def found(path: Path, count: int, **arguments: Any) -> list[Sample]:
    return read("readers.token_file", {"paths": [str(path)], **arguments}, count)


@pytest.mark.parametrize("dtype", CODES)
def test_sequences_have_the_type_they_are_stored_in(dtype: str, tmp_path: Path) -> None:
    expected = save(tmp_path / "a.bin", tokens(dtype))
    for suffix in ("", ".bin", ".idx"):
        samples = found(tmp_path / f"a{suffix}", len(expected))
        for (sample,), sequence in zip(samples, expected, strict=True):
            np.testing.assert_array_equal(sample, sequence, strict=True)


def test_documents_are_their_sequences(tmp_path: Path) -> None:
    documents = tokens("int32")
    save(tmp_path / "a.bin", documents)
    samples = found(tmp_path / "a", len(documents), documents=True)
    for (sample,), document in zip(samples, documents, strict=True):
        assert sample.tolist() == [token for sequence in document for token in sequence]


def test_lengths_are_known(tmp_path: Path) -> None:
    arguments = example(tmp_path)
    source, _ = TestSequences().open(arguments)
    assert source.lengths is not None
    assert source.lengths.tolist()[:9] == [3, 1, 5, 0, 2, 4, 6, 1, 7]
    source, _ = TestSequences().open({**arguments, "documents": True})
    assert source.lengths is not None
    assert source.lengths.tolist() == [4, 5, 0, 0, 13, 7, 7, 13, 0, 0, 5, 4]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, b"X", "it must begin as an index"),
        (9, b"\2", "version 2, type 8: must be 1"),
        (17, b"\x09", "version 1, type 9"),
        (18, b"\xff" * 8, "must have the bytes of"),
        (34, b"\xff" * 4, "lengths and places must be from 0 on"),
        (34 + 36, b"\xff" * 8, "lengths and places must be from 0 on"),
        (34 + 108 + 8, b"\x08", "bounds of documents must ascend"),
        (34 + 36 + 8, b"\x01", "must follow each other"),
    ],
)
def test_hostile_indices(place: int, value: bytes, message: str, tmp_path: Path) -> None:
    save(tmp_path / "a.bin", tokens())
    index = bytearray((tmp_path / "a.idx").read_bytes())
    index[place : place + len(value)] = value
    (tmp_path / "a.idx").write_bytes(index)
    with pytest.raises(ArgumentValueError, match=rf"a\.idx': .*{message}"):
        found(tmp_path / "a", 1, documents=True)


def test_files_must_fit_together(tmp_path: Path) -> None:
    save(tmp_path / "a.bin", tokens("int32"))
    save(tmp_path / "b.bin", tokens("uint16"))
    paths = [str(tmp_path / name) for name in "ab"]
    with pytest.raises(ArgumentValueError, match="must be files with tokens of one type"):
        read("readers.token_file", {"paths": paths}, 1)
    with pytest.raises(ArgumentValueError, match=r"none\.idx"):
        found(tmp_path / "none", 1)
    (tmp_path / "a.bin").unlink()
    with pytest.raises(ArgumentValueError, match=r"a\.bin.*Check the path"):
        found(tmp_path / "a", 1)


def test_mutated_files(tmp_path: Path) -> None:
    counts = outcomes(TestDocuments(), tmp_path, 0, 100)
    assert min(counts["refused"], counts["read"]) > 20
