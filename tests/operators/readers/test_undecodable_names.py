"""Names and texts in files that are not UTF-8, or hold NULs: read as bytes, or a clear error."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, tfrecord
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.testing.examples import list_of
from tests.operators.readers.record_files import example, write_tfrecords

BYTES = b"a\xff\xfeb"
NAME = BYTES.decode("utf-8", "surrogateescape")
LONE = "a\ud800"
"""Half of a pair of surrogates, which stands for no bytes."""


def read(call: Callable[[], Any], count: int = 1) -> list[list[Any]]:
    """Return the samples of each output of a batch."""
    with Pipeline(count, 1, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(*list_of(call()))
    batch = pipeline.run()
    pipeline.close()
    return [[np.array(out.at(i)).tolist() for i in range(count)] for out in batch]


@pytest.fixture
def pa() -> Any:
    return pytest.importorskip("pyarrow", reason="not available: pyarrow")


def table_with_a_bad_name(pa: Any) -> Any:
    """Return a table of which one column, and a field of another, have names that are not UTF-8."""
    table = pa.table({"abcd": [1, 2], "good": [3, 4], "pair": [{"efgh": 1}, {"efgh": 2}]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue().to_pybytes().replace(b"abcd", BYTES).replace(b"efgh", BYTES)
    return pa.ipc.open_stream(data).read_all()


def test_arrow_columns_beside_one_that_is_not_utf_8(pa: Any) -> None:
    from dali_core.arrow import ArrowSource

    table = table_with_a_bad_name(pa)
    assert read(lambda: fn.readers.python(ArrowSource(table, ["good"])), 2) == [[3, 4]]
    for name in ("none", NAME, LONE, "pair.a", f"pair.{NAME}"):
        with pytest.raises(ArgumentValueError, match="one that is not UTF-8, 'good', 'pair'"):
            ArrowSource(table, [name])
    with pytest.raises(ArgumentTypeError, match="got 'pair' of type struct"):
        ArrowSource(table, ["pair"])


def test_parquet_columns_that_are_not_utf_8(pa: Any, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"abcd": [1], "good": [2]}), path)
    for name in (NAME, "none"):
        with pytest.raises(ArgumentValueError, match="there are 'abcd', 'good'"):
            read(lambda name=name: fn.readers.parquet(paths=[str(path)], columns=[name]))
    path.write_bytes(path.read_bytes().replace(b"abcd", BYTES))
    for name in (NAME, "good"):
        with pytest.raises(ArgumentValueError, match="must be files in Parquet"):
            read(lambda name=name: fn.readers.parquet(paths=[str(path)], columns=[name]))


def test_values_of_strings_are_their_bytes(pa: Any, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from dali_core.arrow import ArrowSource

    parts = BYTES + b"\0x\0"
    offsets = np.array([0, 4, 7], np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(parts)]
    table = pa.table({"text": pa.Array.from_buffers(pa.string(), 2, buffers)})
    pq.write_table(table, tmp_path / "a.parquet")
    expected = [[list(BYTES), list(b"\0x\0")]]
    arguments = {"paths": [str(tmp_path / "a.parquet")], "columns": ["text"]}
    assert read(lambda: fn.readers.parquet(**arguments), 2) == expected
    assert read(lambda: fn.readers.python(ArrowSource(table, ["text"])), 2) == expected


def test_paths_of_parquet_files_that_are_not_utf_8(pa: Any, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    path = os.path.join(os.fsencode(tmp_path), BYTES)
    os.rename(tmp_path / "a.parquet", path)
    arguments = {"paths": [os.fsdecode(path)], "columns": ["a"]}
    assert read(lambda: fn.readers.parquet(**arguments)) == [[1]]


def test_features_of_tfrecord(tmp_path: Path) -> None:
    record = example({"abcd": [7], "good": [8]}).replace(b"abcd", BYTES)
    path = str(write_tfrecords(tmp_path / "a.rec", [record]))
    number = tfrecord.FixedLenFeature([1], tfrecord.int64, -1)
    for name, expected in (("good", 8), (NAME, 7), ("other", -1)):
        features = {name: number}
        assert read(lambda f=features: fn.readers.tfrecord(path=path, features=f)) == [[[expected]]]
    for name in ("a\0b", LONE):
        with pytest.raises(ArgumentTypeError, match="features must be a dict of names"):
            read(lambda name=name: fn.readers.tfrecord(path=path, features={name: number}))
    text = tfrecord.FixedLenFeature([], tfrecord.string, NAME)
    found = read(lambda: fn.readers.tfrecord(path=path, features={"none": text}))
    assert found == [[list(BYTES)]]
    with pytest.raises(ArgumentValueError, match="default_value must be text without lone"):
        tfrecord.FixedLenFeature([], tfrecord.string, LONE)


def test_names_in_archives(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    options: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape"}
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, **options) as archive:
        for name in (f"{NAME}.jpg", f"{NAME}.{NAME}", "b.jpg"):
            info = tarfile.TarInfo(name)
            info.size = 1
            archive.addfile(info, io.BytesIO(b"x"))
    path = tmp_path / "a.tar"
    path.write_bytes(buffer.getvalue())
    arguments = {"paths": str(path)}
    expected = [[[120], [120]], [[120], []]]
    assert read(lambda: fn.readers.webdataset(ext=["jpg", NAME], **arguments), 2) == expected
    (tmp_path / "a.idx").write_bytes(b"v1.2 1\n" + BYTES + b" 512 1 " + BYTES + b"." + BYTES)
    indexed = {**arguments, "index_paths": str(tmp_path / "a.idx")}
    assert read(lambda: fn.readers.webdataset(ext=NAME, **indexed)) == [[[120]]]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"audio_filepath": LONE}, "a path without NUL characters and lone surrogates"),
        ({"audio_filepath": "a.wav", "text": LONE}, "text must be a string without lone"),
    ],
)
def test_manifests(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(entry) + "\n")
    with pytest.raises(ArgumentValueError, match=message):
        read(lambda: fn.readers.nemo_asr(manifest_filepaths=[str(path)], read_text=True))
    path.write_bytes(b'{"audio_filepath": "' + BYTES + b'"}\n')
    with pytest.raises(ArgumentValueError, match="must be text in UTF-8"):
        read(lambda: fn.readers.nemo_asr(manifest_filepaths=[str(path)]))


def test_names_in_annotations(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    arguments = {"annotations_file": str(path), "file_root": str(tmp_path)}
    path.write_text(json.dumps({"images": [{"id": 1, "file_name": LONE}]}))
    with pytest.raises(ArgumentValueError, match="NUL characters or lone surrogates"):
        read(lambda: fn.readers.coco(**arguments))
    (tmp_path / NAME).write_bytes(b"image")
    path.write_text(json.dumps({"images": [{"id": 1, "file_name": NAME}]}))
    assert read(lambda: fn.readers.coco(**arguments))[0] == [list(b"image")]


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("file", {"files": [LONE]}),
        ("file", {"files": ["a", LONE], "file_root": "b"}),
        ("file", {"file_root": LONE}),
        ("file", {"file_list": LONE}),
        ("file", {"file_root": ".", "file_filters": [LONE]}),
        ("numpy", {"files": [LONE]}),
        ("webdataset", {"paths": [LONE], "ext": "a"}),
        ("webdataset", {"paths": ["a"], "ext": LONE}),
        ("mxnet", {"path": [LONE]}),
        ("caffe", {"path": [LONE]}),
        ("coco", {"annotations_file": LONE}),
        ("nemo_asr", {"manifest_filepaths": [LONE]}),
        ("sequence", {"file_root": LONE, "sequence_length": 1}),
        ("parquet", {"paths": [LONE], "columns": ["a"]}),
        ("parquet", {"paths": ["a"], "columns": [LONE]}),
    ],
)
def test_arguments_with_lone_surrogates_raise(operator: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentValueError, match=r"must be text without .*lone surrogates"):
        read(lambda: getattr(fn.readers, operator)(**arguments))
