"""Labels of several numbers, and of floats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, pipeline_def
from dali_core.errors import ArgumentTypeError, ArgumentValueError


def read(batch_size: int = 3, **arguments: Any) -> tuple[list[bytes], Any]:
    pipeline = Pipeline(batch_size, 2, None)
    with pipeline:
        pipeline.set_outputs(*fn.readers.file(**arguments))
    data, labels = pipeline.run()
    return [data.at(i).tobytes() for i in range(len(data))], labels.as_array()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name in ("a", "b 1", "c"):
        (tmp_path / name).write_bytes(name.encode())
    return [str(tmp_path / name) for name in ("a", "b 1", "c")]


@pytest.mark.parametrize(
    ("labels", "dtype", "expected"),
    [
        ([1, 2, 3], np.int32, [[1], [2], [3]]),
        (np.array([1, 2, 3], np.int64), np.int32, [[1], [2], [3]]),
        ([0.5, 1, -2], np.float32, [[0.5], [1], [-2]]),
        ([[1, 2], [3, 4], [-5, 6]], np.int32, [[1, 2], [3, 4], [-5, 6]]),
        (np.array([[1], [3], [5]]), np.int32, [[1], [3], [5]]),
        ([[0.25, 2], [3, 4], [5, 6]], np.float32, [[0.25, 2], [3, 4], [5, 6]]),
        (np.eye(3, dtype=bool), np.int32, np.eye(3).tolist()),
        (np.eye(3, dtype=np.float16), np.float32, np.eye(3).tolist()),
    ],
)
def test_labels_of_files(files: list[str], labels: Any, dtype: Any, expected: Any) -> None:
    data, found = read(files=files, labels=labels)
    assert data == [b"a", b"b 1", b"c"]
    assert found.dtype == dtype
    assert found.tolist() == expected


def test_text_with_several_numbers_a_line(tmp_path: Path, files: list[str]) -> None:
    listing = tmp_path / "list.txt"
    listing.write_text("\ufeffa 1 2\n\nb 1\t3  4\nc 5 6\n", encoding="utf-8")
    data, labels = read(file_list=str(listing), num_labels=2)
    assert data == [b"a", b"b 1", b"c"]
    assert labels.tolist() == [[1, 2], [3, 4], [5, 6]]
    listing.write_text("a 0.5\nb 1 3\n")
    data, labels = read(2, file_list=str(listing), num_labels=1)
    assert (data, labels.tolist(), labels.dtype) == ([b"a", b"b 1"], [[0.5], [3]], np.float32)
    assert read(1, file_list=str(listing), num_labels=1, shard_id=1, num_shards=2)[0] == [b"b 1"]


@pytest.mark.parametrize("header", ["", "path,first,second\n", "\ufeff"])
def test_csv_table(tmp_path: Path, files: list[str], header: str) -> None:
    table = tmp_path / "table.CSV"
    table.write_text(header + 'a,1,2\r\n"b 1",3,4\r\n\r\nc,5,6e0\r\n', encoding="utf-8")
    data, labels = read(file_list=str(table))
    assert data == [b"a", b"b 1", b"c"]
    assert labels.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_epochs_and_documents_keep_rows(files: list[str]) -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define() -> Any:
        return tuple(fn.readers.file(files=files, labels=rows, random_shuffle=True, seed=3))

    pipeline = define()
    again = Pipeline.deserialize(define().serialize())
    found = []
    for _ in range(3):
        data, labels = pipeline.run()
        assert labels.as_array().tolist() == again.run()[1].as_array().tolist()
        for number in range(2):
            position = [b"a", b"b 1", b"c"].index(data.at(number).tobytes())
            assert labels.at(number).tolist() == rows[position].tolist()
            found.append(position)
    assert sorted(found) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": [[1], [2, 3], [4]]}, ArgumentValueError, "as many numbers for each file"),
        ({"labels": ["x", "y", "z"]}, ArgumentTypeError, "must be numbers"),
        ({"labels": [1, None, 2]}, ArgumentTypeError, "for entry 1"),
        ({"labels": np.zeros((3, 1, 1))}, ArgumentValueError, "shape"),
        ({"labels": np.zeros((3, 0))}, ArgumentValueError, "shape"),
        ({"labels": np.zeros((2, 4))}, ArgumentValueError, "each of the 3 files"),
        ({"labels": [1.0, np.nan, 2]}, ArgumentValueError, "entry 1 must be finite"),
        ({"labels": [[1], [2**31], [3]]}, ArgumentValueError, "entry 1 must fit into 32 bits"),
        ({"labels": 5}, ArgumentValueError, "shape"),
        ({"num_labels": 2}, ArgumentTypeError, "num_labels must come together"),
    ],
)
def test_wrong_labels(
    files: list[str], arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read(files=files, **arguments)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda: ("x.txt", "a 1 2\nb 3\n"), r"line 2: must be a path and 2 numbers"),
        (lambda: ("x.txt", "a 1 x\n"), r"line 1"),
        (lambda: ("x.csv", "a,1,2\nb,3\n"), r"line 2: must be a path and 2 numbers"),
        (lambda: ("x.csv", "a,1\nb,1_0\n"), r"line 2"),
        (lambda: ("x.csv", "name,label\n"), "at least one file"),
        (lambda: ("x.csv", "a,1\nb,99999999999\n"), r"line 2 must fit into 32 bits"),
        (lambda: ("x.csv", "a,1.5\nb,nan\n"), r"line 2 must be finite"),
        (lambda: ("x.csv", "a\n"), r"line 1"),
        (lambda: ("x.csv", "a,1\n\0,2\n"), r"line 2|CSV"),
    ],
)
def test_damaged_lists(tmp_path: Path, write: Callable[[], tuple[str, str]], message: str) -> None:
    name, text = write()
    (tmp_path / name).write_text(text)
    extra: dict[str, Any] = {} if name.endswith("csv") else {"num_labels": 2}
    with pytest.raises(ArgumentValueError, match=message):
        read(file_list=str(tmp_path / name), **extra)
