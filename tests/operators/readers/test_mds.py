"""`fn.readers.mds`: columns of MDS shards, plain and compressed."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._readers.formats.mds import Mds
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import Sample, read
from tests.mutated_formats import outcomes
from tests.operators.readers.mds_files import COMPRESSIONS, write_mds
from tests.operators.suite import Example, numbers

COLUMNS = {"number": "int", "image": "jpeg", "data": "ndarray"}


def rows_of(first: int, count: int) -> list[dict[str, Any]]:
    return [
        {"number": n, "image": b"%d" % n * n, "data": numbers("int16", (n % 3 + 1, 2), n)}
        for n in range(first, first + count)
    ]


def example(folder: Path, compression: str | None = None, **arguments: Any) -> dict[str, Any]:
    write_mds(folder / "a", COLUMNS, rows_of(0, 7), 3, compression)
    write_mds(folder / "b", COLUMNS, rows_of(7, 4), 3)
    return {"paths": [str(folder)], "columns": ["number", "image", "data"], **arguments}


EXAMPLES = [
    Example("plain", (), partial(example, random_shuffle=True)),
    Example("compressed", (), partial(example, compression="gz:5", columns="data")),
]


class TestPlain(ReaderSuite):
    format = Mds()
    num_samples = 11
    write = staticmethod(example)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "a" / "shard.00000.mds").unlink()
        path = folder / "b" / "shard.00001.mds"
        data = bytearray(path.read_bytes())
        data[-1 - 8 - 10 - 4] ^= 255
        path.write_bytes(path.read_bytes()[:-9])
        return {**dict.fromkeys(range(3), "shard.00000.mds"), 10: "b/shard.00001.mds'"}


class TestCompressed(ReaderSuite):
    format = Mds()
    num_samples = 11

    def write(self, folder: Path) -> dict[str, Any]:
        return example(folder, "bz2")

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        path = folder / "a" / "shard.00001.mds.bz2"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        return dict.fromkeys((3, 4, 5), "shard.00001.mds.bz2': it must be compressed by 'bz2'")


def found(folder: str, columns: Any, count: int = 1, **arguments: Any) -> list[Sample]:
    return read("readers.mds", {"paths": [folder], "columns": columns, **arguments}, count)


SCALARS = [f"{kind}{size}" for kind in ("uint", "int") for size in (8, 16, 32, 64)]
VALUES: list[tuple[str, Any, Any]] = [
    *((kind, 7, np.dtype(kind).type(7)) for kind in (*SCALARS, "float16", "float32", "float64")),
    ("int", -(2**40), np.int64(-(2**40))),
    ("bytes", b"\0a", np.uint8([0, 97])),
    ("str", "aé", np.frombuffer("aé".encode(), np.uint8)),
    ("json", {"a": 1}, np.frombuffer(b'{"a": 1}', np.uint8)),
    ("jpeg", b"jpeg", np.frombuffer(b"jpeg", np.uint8)),
    ("png", b"png", np.frombuffer(b"png", np.uint8)),
    ("str_int", -(2**62), np.int64(-(2**62))),
    ("str_float", 0.1, np.float64(0.1)),
    ("str_decimal", "12.50", np.float64(12.5)),
    ("ndarray", np.ones((300, 2), np.float16), np.ones((300, 2), np.float16)),
    ("ndarray:int32", np.arange(6).reshape(2, 3).astype("i4"), np.int32([[0, 1, 2], [3, 4, 5]])),
    ("ndarray:uint8:2,1", np.uint8([[1], [2]]), np.uint8([[1], [2]])),
    ("pil", ("RGB", np.full((2, 3, 3), 5, np.uint8)), np.full((2, 3, 3), 5, np.uint8)),
    ("pil", ("L", np.full((2, 3), 5, np.uint8)), np.full((2, 3), 5, np.uint8)),
    ("pil", ("I;16", np.full((2, 3), 500, "<u2")), np.full((2, 3), 500, np.uint16)),
    ("pil", ("1", np.eye(3, 9, dtype=bool)), np.eye(3, 9, dtype=bool)),
    ("list[pil]", [("L", np.zeros((2, 3), np.uint8))] * 2, np.zeros((2, 2, 3), np.uint8)),
]


@pytest.mark.parametrize(("encoding", "value", "expected"), VALUES)
def test_encodings(encoding: str, value: Any, expected: Any, tmp_path: Path) -> None:
    folder = write_mds(tmp_path, {"a": encoding, "b": "pkl"}, [{"a": value, "b": b"pickled"}], 1)
    ((array,),) = found(folder, "a")
    np.testing.assert_array_equal(array, expected, strict=True)


@pytest.mark.parametrize("encoding", ["list[jpeg]", "list[png]", "jpeg_array"])
def test_items_of_lists(encoding: str, tmp_path: Path) -> None:
    folder = write_mds(tmp_path, {"a": encoding}, [{"a": [b"first", b"", b"last"]}], 1)
    ((first, second, last),) = found(folder, ["a[0]", "a[1]", "a[-1]"])
    assert (bytes(first), bytes(second), bytes(last)) == (b"first", b"", b"last")
    with pytest.raises(ArgumentValueError, match=r"one must be chosen, such as 'name\[0\]'"):
        found(folder, "a")
    with pytest.raises(SampleError, match=r"row 0: column 'a\[3\]': there is no item 3 of 3"):
        found(folder, "a[3]")


@pytest.mark.parametrize("name", ["gz", "bz2:2", "zstd:7", "br", "snappy"])
def test_compressions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = name.partition(":")[0]
    if kind not in COMPRESSIONS:
        module = {"zstd": "zstandard", "br": "brotli"}.get(kind, kind)
        compress = pytest.importorskip(module, reason=f"not available: {module}").compress
        monkeypatch.setitem(COMPRESSIONS, kind, compress)
    rows = rows_of(0, 10)
    folder = write_mds(tmp_path, COLUMNS, rows, 4, name, ["sha1", "md5"])
    samples = found(folder, ["image", "number"], 10, check_hashes=True)
    assert [bytes(image) for image, _ in samples] == [row["image"] for row in rows]
    # The package leaves what it has decoded.
    write_mds(tmp_path / "other", COLUMNS, rows, 4)
    (tmp_path / "other" / "shard.00001.mds").rename(tmp_path / "shard.00001.mds")
    (tmp_path / f"shard.00001.mds.{kind}").unlink()
    assert [int(n) for _, n in found(folder, ["image", "number"], 10)] == list(range(10))


def test_shards_that_claim_too_little_are_not_decoded_further(tmp_path: Path) -> None:
    rows = [{"a": bytes(1 << 20)}] * 2
    folder = write_mds(tmp_path, {"a": "bytes"}, rows, 2, "gz")
    index = json.loads((tmp_path / "index.json").read_text())
    index["shards"][0]["raw_data"]["bytes"] = 1000
    (tmp_path / "index.json").write_text(json.dumps(index))
    with pytest.raises(SampleError, match=r"shard\.00000\.mds\.gz': .* 1000 bytes when"):
        found(folder, "a")


@pytest.mark.parametrize("compression", [None, "gz"])
def test_hashes(compression: str | None, tmp_path: Path) -> None:
    folder = write_mds(tmp_path, COLUMNS, rows_of(0, 6), 3, compression, ["sha256"])
    assert [int(n) for (n,) in found(folder, "number", 6, check_hashes=True)] == list(range(6))
    (path,) = tmp_path.glob("shard.00001*")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(SampleError, match=r"shard\.00001\.mds.*the shard must have the sha256"):
        found(folder, "number", 6, check_hashes=True)
    write_mds(tmp_path, COLUMNS, rows_of(0, 6), 3, compression)
    with pytest.raises(ArgumentValueError, match="check_hashes must be False where the index has"):
        found(folder, "number", check_hashes=True)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("b", "'pkl' are programs, which are never run.*Leave the column out"),
        ("c", r"columns must be those of the shards \(got 'c'.*has 'a', 'b'\)"),
        ("a[0]", "values of encoding 'int' have no items"),
    ],
)
def test_columns_that_cannot_be_read(column: str, message: str, tmp_path: Path) -> None:
    folder = write_mds(tmp_path, {"a": "int", "b": "pkl"}, [{"a": 1, "b": b"pickled"}], 1)
    with pytest.raises(ArgumentValueError, match=message):
        found(folder, column)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 1}, "format and version must be"),
        ({"samples": -1}, "must be numbers of 32 bits"),
        ({"samples": 2**40}, "must be numbers of 32 bits"),
        ({"column_sizes": [8.5]}, "column_sizes must be numbers"),
        ({"column_names": []}, "must each have a name"),
        ({"raw_data": {"basename": "../a", "bytes": 1}}, "must be in the folder of the index"),
        ({"raw_data": {"basename": "/a", "bytes": 1}}, "must be in the folder of the index"),
        ({"column_encodings": ["new"]}, "there is no encoding 'new'"),
        ({"compression": "lz9", "zip_data": {"basename": "a"}}, "there is no compression 'lz9'"),
        ({"raw_data": 3}, "TypeError"),
    ],
)
def test_hostile_indices(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = write_mds(tmp_path, {"a": "int"}, [{"a": 1}], 1)
    index = json.loads((tmp_path / "index.json").read_text())
    index["shards"][0].update(change)
    (tmp_path / "shard.00000.mds").unlink()
    (tmp_path / "index.json").write_text(json.dumps(index))
    with pytest.raises(ArgumentValueError, match=message):
        found(folder, "a")


@pytest.mark.parametrize("compression", [None, "gz"])
def test_mutated_files(compression: str | None, tmp_path: Path) -> None:
    suite = TestPlain() if compression is None else TestCompressed()
    counts = outcomes(suite, tmp_path, 0, 150)
    assert min(counts["refused"], counts["bad"], counts["read"]) > 10
