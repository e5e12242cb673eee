"""`fn.readers.lance`: rows of versions of Lance data sets."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lance", reason="not available: pylance")

import lance
import pyarrow as pa

from dali_core import Pipeline, fn
from dali_core._readers.formats.lance import Lance
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    SampleError,
    StateMismatchError,
)
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import read
from tests.mutated_formats import outcomes
from tests.operators.readers.lengths import declared_lengths
from tests.operators.suite import Example, numbers

NUM_ROWS = 20
COLUMNS = ["number", "vector", "text"]
BLOB = pa.field("video", pa.large_binary(), metadata={"lance-encoding:blob": "true"})


def table_of(first: int = 0, count: int = NUM_ROWS) -> Any:
    vectors = numbers("float32", (count, 3), first)
    return pa.table(
        {
            "number": pa.array(range(first, first + count), pa.int64()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 3),
            "text": [f"é{n}" * n for n in range(first, first + count)],
        }
    )


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    uri = str(folder / "rows.lance")
    lance.write_dataset(table_of(), uri, max_rows_per_file=8, mode="overwrite")
    return {"uri": uri, "columns": COLUMNS, **arguments}


EXAMPLES = [
    Example("all rows", (), partial(example, random_shuffle=True)),
    Example("filter", (), partial(example, filter="number > 4", columns="vector")),
]


class TestRows(ReaderSuite):
    format = Lance()
    num_samples = NUM_ROWS
    write = staticmethod(example)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (last,) = fragments(arguments["uri"])[2:]
        os.truncate(last, 100)
        return dict.fromkeys(range(16, 20), "rows.lance', version 1, row")


def fragments(uri: str) -> list[Path]:
    """Return the files of the fragments, in their order."""
    found = lance.dataset(uri).get_fragments()
    return [Path(uri, "data", each.data_files()[0].path) for each in found]


def values(arguments: dict[str, Any], count: int = 1) -> list[Any]:
    return [int(sample[0]) for sample in read("readers.lance", arguments, count)]


def test_values(tmp_path: Path) -> None:
    arguments = example(tmp_path)
    table = table_of()
    for row, sample in enumerate(read("readers.lance", arguments, NUM_ROWS)):
        number, vector, text = sample
        np.testing.assert_array_equal(number, np.int64(row), strict=True)
        expected = np.float32(table["vector"][row].as_py())
        np.testing.assert_array_equal(vector, expected, strict=True)
        assert bytes(text).decode() == f"é{row}" * row


def test_deleted_and_changed_rows(tmp_path: Path) -> None:
    arguments = example(tmp_path, columns=["number"])
    data = lance.dataset(arguments["uri"])
    data.delete("number in (3, 10)")
    data.update({"text": "'new'"}, where="number = 1")
    expected = data.to_table()["number"].to_pylist()
    assert len(expected) == 18
    assert values(arguments, 18) == expected
    assert values({**arguments, "version": 1}, 20) == list(range(20))
    chosen = {**arguments, "filter": "number % 3 = 1"}
    expected = [number for number in expected if number % 3 == 1]
    assert values(chosen, 6) == expected == [4, 7, 13, 16, 19, 1]


def test_columns_give_lengths(tmp_path: Path) -> None:
    arguments = example(tmp_path, columns=["vector"])
    data = lance.dataset(arguments["uri"])
    data.delete("number in (3, 10)")
    left = [number for number in range(NUM_ROWS) if number not in (3, 10)]

    def lengths(*names: str, **more: Any) -> Any:
        found = declared_lengths("readers.lance", **arguments, lengths=list(names), **more)
        return None if found is None else found.tolist()

    assert declared_lengths("readers.lance", **arguments) is None
    assert lengths("number") == left
    assert lengths("text") == [len(f"é{n}".encode()) * n for n in left]
    assert lengths("number", "text") == [[n, len(f"é{n}".encode()) * n] for n in left]
    assert lengths("number", filter="number > 12") == list(range(13, 20))
    assert lengths("number", version=1) == list(range(NUM_ROWS))
    with pytest.raises(ArgumentTypeError, match="lengths must be columns of integers"):
        lengths("vector")
    data.update({"text": "null"}, where="number = 5")
    with pytest.raises(ArgumentValueError, match="got None in row 0"):
        lengths("text")


def test_filter_after_compaction(tmp_path: Path) -> None:
    arguments = example(tmp_path, columns=["number"], filter="number >= 12")
    data = lance.dataset(arguments["uri"])
    data.delete("number = 13")
    data.optimize.compact_files()
    assert values(arguments, 7) == [12, *range(14, 20)]


def test_states_have_the_version(tmp_path: Path) -> None:
    arguments = example(tmp_path, columns=["number"])

    def made(**more: Any) -> Pipeline:
        pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None, seed=1)
        with pipeline:
            pipeline.set_outputs(fn.readers.lance(**arguments, **more))
        return pipeline

    first = made()
    first.run()
    state = first.state_dict()
    lance.dataset(arguments["uri"]).delete("number = 19")
    lance.write_dataset(table_of(20, 1), arguments["uri"], mode="append")
    with pytest.raises(StateMismatchError, match="version 1, "):
        made().load_state_dict(state)
    resumed = made(version=1)
    resumed.load_state_dict(state)
    (batch,) = resumed.run()
    assert [int(np.array(each)) for each in batch] == [2, 3]


def test_removed_versions_are_named(tmp_path: Path) -> None:
    arguments = example(tmp_path)
    with pytest.raises(ArgumentValueError, match=r"with version 7 .*cleaning up has removed"):
        values({**arguments, "version": 7})


def test_blobs(tmp_path: Path) -> None:
    content = [b"x" * n for n in range(1, 10)]
    table = pa.table(
        [pa.array([*content, None], pa.large_binary()), pa.array(range(10))],
        pa.schema([BLOB, pa.field("number", pa.int64())]),
    )
    uri = str(tmp_path / "blobs.lance")
    lance.write_dataset(table, uri, max_rows_per_file=4)
    arguments = {"uri": uri, "columns": ["video", "number"], "sampler": [7, 0, 7]}
    found = read("readers.lance", arguments, 3)
    assert [(bytes(video), int(number)) for video, number in found] == [
        (content[n], n) for n in (7, 0, 7)
    ]
    with pytest.raises(SampleError, match="'video' has a null"):
        read("readers.lance", {**arguments, "sampler": [9]}, 1)
    lance.dataset(uri).delete("number = 0")
    ((video,),) = read("readers.lance", {"uri": uri, "columns": "video"}, 1)
    assert bytes(video) == content[1]


def test_images_are_their_bytes(tmp_path: Path) -> None:
    from lance.arrow import EncodedImageType

    storage = pa.array([b"png", b"jpeg"], pa.binary())
    images = pa.ExtensionArray.from_storage(EncodedImageType(), storage)
    uri = str(tmp_path / "images.lance")
    lance.write_dataset(pa.table({"image": images}), uri)
    found = read("readers.lance", {"uri": uri, "columns": "image"}, 2)
    assert [bytes(image) for (image,) in found] == [b"png", b"jpeg"]


def test_columns_of_bfloat16(tmp_path: Path) -> None:
    from lance.arrow import bfloat16_array

    uri = str(tmp_path / "half.lance")
    lance.write_dataset(pa.table({"a": bfloat16_array([1.5, 2.5])}), uri)
    with pytest.raises(ArgumentTypeError, match="'a' of type .*bfloat16"):
        values({"uri": uri, "columns": "a"})


ERRORS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"columns": ["nothing"]}, ArgumentValueError, "'nothing'; there are 'number'"),
    ({"filter": "nothing > 1"}, ArgumentValueError, "No field named nothing"),
    ({"filter": "number >"}, ArgumentValueError, "filter must be a condition in SQL"),
    ({"filter": "number > 99"}, ArgumentValueError, "at least one row"),
    ({"uri": "/nothing"}, ArgumentValueError, "'/nothing', where there is none"),
    ({"uri": "ftp://a/b"}, ArgumentValueError, "a URL of s3"),
    ({"store_options": {"a": 1}}, ArgumentTypeError, "dict of texts"),
]


@pytest.mark.parametrize(("wrong", "kind", "message"), ERRORS)
def test_arguments_that_do_not_fit(
    wrong: dict[str, Any], kind: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message):
        values({**example(tmp_path), **wrong})


def test_indices_are_checked_before_they_are_passed_on(tmp_path: Path) -> None:
    suite = TestRows()
    _, fetcher = suite.open(example(tmp_path))
    for index in (-1, NUM_ROWS, 1 << 40):
        with pytest.raises(ValueError, match="rows must be below 20"):
            fetcher.fetch(index)


def _read_in_fork(arguments: dict[str, Any], sender: Any) -> None:
    try:
        values(arguments)
    except ArgumentValueError as error:
        sender.send(str(error))
    sender.close()


@pytest.mark.filterwarnings("ignore:lance is not fork-safe")
@pytest.mark.filterwarnings("ignore:This process")
def test_forked_processes_raise_instead_of_hanging(tmp_path: Path) -> None:
    arguments = example(tmp_path)
    assert values(arguments) == [0]
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_read_in_fork, args=(arguments, sender))
    process.start()
    sender.close()
    try:
        assert 'method "spawn"' in receiver.recv()
    finally:
        process.join()


def test_mutated_files(tmp_path: Path) -> None:
    class Suite(TestRows):
        def write(self, folder: Path) -> dict[str, Any]:  # type: ignore[override]
            shutil.rmtree(folder / "rows.lance", ignore_errors=True)
            return example(folder)

    counts = outcomes(Suite(), tmp_path, 0, 60)
    assert counts["read"] > 0
    assert counts["refused"] > 0
