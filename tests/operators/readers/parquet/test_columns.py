"""Types of columns: what arrays `fn.readers.parquet` and `ArrowSource` make of them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="not available: pyarrow")

import pyarrow as pa

from dali_core import Pipeline, fn
from dali_core.arrow import ArrowSource
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.readers.parquet.tables import IMAGE, numbered, read, write

NUMBERS = [
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
]
number = st.integers(0, 100)


@st.composite
def columns(
    draw: st.DrawFn, num_rows: int, in_file: bool = False
) -> tuple[pa.Array, list[Any], np.dtype]:
    """Draw a column, its values, and the dtype that they become."""
    kind = draw(st.sampled_from(["bytes", "string", "bool", "scalar", "list", "fixed", "nested"]))
    name = draw(st.sampled_from(NUMBERS))
    shape = draw(st.lists(st.integers(int(in_file), 3), min_size=1, max_size=3))

    def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.none() | values if draw(st.booleans()) else values

    def several(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=num_rows, max_size=num_rows))

    leaf = pa.from_numpy_dtype(np.dtype(name))
    if kind == "bytes":
        given = several(optional(st.binary(max_size=5)))
        types = [pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.binary())]
        types += [] if in_file else [pa.binary_view()]
        return pa.array(given, draw(st.sampled_from(types))), given, np.dtype(np.uint8)
    if kind == "string":
        given = several(optional(st.text(max_size=5)))
        types = [pa.string(), pa.large_string(), pa.dictionary(pa.int16(), pa.string())]
        types += [] if in_file else [pa.string_view()]
        array = pa.array(given, draw(st.sampled_from(types)))
        return array, [v if v is None else v.encode() for v in given], np.dtype(np.uint8)
    if kind == "bool":
        given = several(optional(st.booleans()))
        return pa.array(given, pa.bool_()), given, np.dtype(np.bool_)
    if kind == "scalar":
        given = several(optional(number.map(np.dtype(name).type)))
        return pa.array(given, leaf), given, np.dtype(name)
    inner = optional(number.map(np.dtype(name).type))
    if kind == "list":
        given = several(optional(st.lists(inner, max_size=4)))
        make = draw(st.sampled_from([pa.list_, pa.large_list]))
        return pa.array(given, make(leaf)), given, np.dtype(name)
    nested: Any = inner
    type_: Any = leaf
    for length in reversed(shape):
        nested = st.lists(nested, min_size=length, max_size=length)
        type_ = pa.list_(type_, length)
    if kind == "nested":
        nested, type_ = st.lists(nested, max_size=3), pa.list_(type_)
    given = several(optional(nested))
    return pa.array(given, type_), given, np.dtype(name)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), num_rows=st.integers(1, 7), offset=st.integers(0, 3))
def test_every_type(data: st.DataObject, num_rows: int, offset: int) -> None:
    array, values, dtype = data.draw(columns(num_rows))
    offset = min(offset, num_rows - 1)
    pieces = pa.chunked_array([array[: offset + 1], array[offset + 1 :]])
    for values_here, chunked in ((values, pieces), (values[offset:], array[offset:])):
        source = ArrowSource(pa.table({"x": chunked}), ["x"])
        assert len(source) == len(values_here)
        for index, value in enumerate(values_here):
            if _has_null(value):
                with pytest.raises(ValueError, match=f"column 'x' .*null.* in row {index}"):
                    source.fetch_many([index])
                continue
            ((found,),) = source.fetch_many([index])
            assert found.dtype == dtype
            if isinstance(value, bytes):
                assert found.tobytes() == value
            elif found.size:
                np.testing.assert_array_equal(found, np.array(value, dtype), strict=True)
            else:
                assert np.size(value) == 0


def _has_null(value: Any) -> bool:
    return value is None or (isinstance(value, list) and any(map(_has_null, value)))


@settings(max_examples=20, deadline=None)
@given(data=st.data(), num_rows=st.integers(1, 9), row_group_size=st.integers(1, 4))
def test_files_and_tables_have_equal_values(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    num_rows: int,
    row_group_size: int,
) -> None:
    # pyarrow does not read lists of a fixed size of 0, and not all versions write views.
    array, values, _ = data.draw(columns(num_rows, in_file=True))
    table = pa.table({"x": array, "not read": pa.array(["unread"] * num_rows)})
    path = write(tmp_path_factory.mktemp("types") / "a.parquet", table, row_group_size)
    rows = [row for row, value in enumerate(values) if not _has_null(value)] or None
    if rows is None:
        with pytest.raises(SampleError, match=r"a\.parquet', row group 0: column 'x' .*null"):
            read(num_rows, paths=[path], columns=["x"])
        return
    (found,) = read(len(rows), paths=[path], columns=["x"], sampler=rows)
    expected = ArrowSource(table, ["x"]).fetch_many(rows)
    for one, (same,) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, same, strict=True)


def test_tensors_of_a_fixed_shape() -> None:
    numbers = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(numbers)
    ((found,),) = ArrowSource(pa.table({"x": tensors[1:]}), ["x"]).fetch_many([0])
    np.testing.assert_array_equal(found, numbers[1], strict=True)


def test_arrays_are_views() -> None:
    numbers = np.arange(6.0)
    lists = pa.ListArray.from_arrays([0, 2, 6], pa.array(numbers))
    source = ArrowSource(pa.table({"x": lists, "y": pa.array(numbers[:2])}), ["x", "y"])
    for found in source.fetch_many([1])[0]:
        assert np.shares_memory(found, numbers)


def test_images_of_hugging_face(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", numbered(5))
    images, names = read(5, paths=path, columns=["image", "image.path"])
    assert [image.tobytes() for image in images] == [b"%d" % n * n for n in range(5)]
    assert [name.tobytes().decode() for name in names] == [f"{n}.jpg" for n in range(5)]
    missing = pa.array([{"bytes": None, "path": "a"}, None, {"bytes": b"1", "path": None}], IMAGE)
    source = ArrowSource(pa.table({"image": missing}), ["image"])
    for index in range(2):
        with pytest.raises(ValueError, match=f"column 'image' .*got null in row {index}"):
            source.fetch_many([index])
    assert source.fetch_many([2])[0][0].tobytes() == b"1"


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([datetime.datetime(2020, 1, 1)], pa.timestamp("us")),
        ([1], pa.decimal128(5, 2)),
        ([[["a"]]], pa.list_(pa.list_(pa.string()))),
        ([[[1], [2, 3]]], pa.list_(pa.list_(pa.int8()))),
        ([{"a": 1}], pa.struct([("a", pa.int8())])),
        ([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
        ([None], pa.null()),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_types_raise(tmp_path: Path, values: list[Any], type_: Any) -> None:
    table = pa.table({"good": [1], "bad": pa.array(values, type_)})
    with pytest.raises(ArgumentTypeError, match=r"columns .*'bad' of type .* in the table"):
        ArrowSource(table, ["bad"])
    path = write(tmp_path / "a.parquet", table)
    with pytest.raises(ArgumentTypeError, match=r"parquet at .*'bad' of type .*a\.parquet"):
        read(1, paths=[path], columns=["good", "bad"])
    assert read(1, paths=[path], columns=["good"])[0][0] == 1


def test_wrong_arguments_of_sources() -> None:
    table = numbered(3)
    with pytest.raises(ArgumentValueError, match=r"'a' *; there are 'number', 'image', 'points'"):
        ArrowSource(table, ["a"])
    with pytest.raises(ArgumentValueError, match=r"got 'image.size'"):
        ArrowSource(table, ["image.size"])
    for columns_ in ("number", []):
        with pytest.raises(ArgumentTypeError, match="columns must be a list of names"):
            ArrowSource(table, columns_)
    with pytest.raises(ArgumentTypeError, match=r"or a datasets.Dataset \(got \[1\]"):
        ArrowSource([1], ["a"])


@pytest.mark.parametrize("options", [{}, {"num_outputs": 1}])
@pytest.mark.parametrize("name", ["number", "image", "points"])
def test_samples_of_one_column_have_its_dimensions(name: str, options: dict[str, Any]) -> None:
    source = ArrowSource(numbered(7), [name])
    expected = [row for (row,) in source.fetch_many(range(7))]
    for batch_size in (7, 3):
        with Pipeline(batch_size, 2, None, prefetch_queue_depth=1) as pipeline:
            pipeline.set_outputs(fn.readers.python(source, **options))
        (batch,) = pipeline.run()
        for place in range(batch_size):
            np.testing.assert_array_equal(batch.at(place), expected[place], strict=True)
        pipeline.close()


def test_tables_through_the_reader_of_python() -> None:
    source = ArrowSource(numbered(7), ["number", "points"])
    with Pipeline(7, 1, None) as pipeline:
        number, points = fn.readers.python(source, num_outputs=2, random_shuffle=True)
        pipeline.set_outputs(number, points)
    number, points = pipeline.run()
    assert sorted(number.as_array().tolist()) == list(range(7))
    for place in range(7):
        n = int(number.at(place))
        assert points.at(place).tolist() == [[n + i, n - i] for i in range(n % 3)]
    pipeline.close()
