"""Lengths of samples that Parquet files and Arrow tables give, for batches by tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("pyarrow", reason="not available: pyarrow")

import pyarrow as pa

from dali_core._readers.user_data import UserData
from dali_core.arrow import ArrowSource
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.operators.readers.lengths import declared_lengths
from tests.operators.readers.parquet.tables import IMAGE, make, read, write

TOKENS = [[1, 2, 3], [], [4], [5, 6], [7, 8, 9, 10]]
TABLE = pa.table(
    {
        "tokens": pa.array(TOKENS, pa.list_(pa.int32())),
        "count": pa.array([3, 0, 1, 2, 4], pa.uint16()),
        "text": ["abc", "", "ä", None, "hello"],
        "word": pa.array(["ab", "c", "ab", "c", "c"]).dictionary_encode(),
        "image": pa.array([{"bytes": b"x" * n, "path": None} for n in range(5)], IMAGE),
        "meta": [{"tokens": n} for n in range(5)],
        "seconds": [0.5] * 5,
        "negative": [1, 2, 3, 4, -5],
        "large": pa.array([1, 2, 3, 4, 2**63], pa.uint64()),
    }
)
EXPECTED = {
    "tokens": [3, 0, 1, 2, 4],
    "count": [3, 0, 1, 2, 4],
    "word": [2, 1, 2, 1, 1],
    "image": [0, 1, 2, 3, 4],
    "meta.tokens": [0, 1, 2, 3, 4],
}


def of_files(paths: list[str], **arguments: Any) -> NDArray[np.int64] | None:
    """Return the lengths that a reader of files declares."""
    return declared_lengths("readers.parquet", paths=paths, columns=["count"], **arguments)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_column_gives_lengths(name: str, tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{part}.parquet", TABLE, 2) for part in "ab"]
    found = of_files(paths, lengths=name)
    assert found is not None
    assert found.dtype == np.int64
    assert found.tolist() == EXPECTED[name] * 2
    chunked = pa.concat_tables([TABLE.slice(0, 2), TABLE.slice(2)])
    assert UserData(ArrowSource(chunked, ["count"], name)).lengths.tolist() == EXPECTED[name]


def test_several_columns_give_several_kinds(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", TABLE, 2)
    found = of_files([path], lengths=["tokens", "word"])
    expected = np.stack([EXPECTED["tokens"], EXPECTED["word"]], axis=1)
    np.testing.assert_array_equal(found, expected, strict=True)
    source = ArrowSource(TABLE, ["count"], ["tokens", "word"])
    np.testing.assert_array_equal(source.lengths, expected, strict=True)


def test_without_a_column_lengths_are_unknown(tmp_path: Path) -> None:
    assert of_files([write(tmp_path / "a.parquet", TABLE)]) is None
    assert ArrowSource(TABLE, ["count"]).lengths is None


def test_lengths_are_read_only_where_they_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", TABLE)
    assert read(5, paths=[path], columns=["count"], lengths="negative") == [[3, 0, 1, 2, 4]]
    with pytest.raises(ArgumentValueError, match=r"got -5 in row 1 .*'negative' .*row group 1"):
        of_files([path], lengths="negative")


def test_documents_keep_the_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", TABLE)
    pipeline = make(5, paths=[path], columns=["count"], lengths=["count", "word"])
    document = json.loads(pipeline.serialize())
    pipeline.close()
    assert "count" in json.dumps(document)
    assert '"lengths": ["count", "word"]' in json.dumps(document)


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("seconds", ArgumentTypeError, "lengths must be columns of integers.*'seconds' of type d"),
        ("missing", ArgumentValueError, "lengths must be those of .*got 'missing'; there are"),
        ("meta", ArgumentTypeError, "lengths must have types of which arrays can be made"),
        ("text", ArgumentValueError, "got None in row . of the column 'text'"),
        ("negative", ArgumentValueError, "got -5 in row . of the column 'negative'"),
        ("large", ArgumentValueError, f"got {2**63} in row . of the column 'large'"),
    ],
)
def test_columns_without_lengths_raise(
    name: str, kind: type[Exception], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=reason):
        ArrowSource(TABLE, ["count"], name)
    path = write(tmp_path / "a.parquet", TABLE)
    with pytest.raises(kind, match=f"{reason}.*parquet" if "there" not in reason else reason):
        of_files([path], lengths=name)


def test_damage_is_an_error_that_names_the_row_group(tmp_path: Path) -> None:
    table = pa.table({"count": pa.array(range(1000), pa.int64())})
    path = Path(write(tmp_path / "a.parquet", table, 500))
    data = bytearray(path.read_bytes())
    data[300] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(ArgumentValueError, match=r"a\.parquet', row group 0: the row group must"):
        of_files([str(path)], lengths="count")
