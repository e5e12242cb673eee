"""Tensors and batches of numbers, lists, arrays and tensors of frameworks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dali_core.dynamic as dd
from dali_core import types


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (3, "i32", ()),
        (True, "bool", ()),
        (1.5, "f32", ()),
        ([1, 2], "i32", (2,)),
        ([[1], [2.5]], "f32", (2, 1)),
        ([True, 2], "i32", (2,)),
        ([], "f32", (0,)),
        (range(3), "i32", (3,)),
        (2**31, "u32", ()),
        (bytearray(b"abc"), "u8", (3,)),
        (np.float64(2), "f64", ()),
        (np.arange(3), "i64", (3,)),
        ([np.zeros(2, np.uint8), np.ones(2, np.uint8)], "u8", (2, 2)),
    ],
)
def test_types_and_shapes_of_data(data: Any, dtype: str, shape: tuple[int, ...]) -> None:
    tensor = dd.as_tensor(data)
    assert (str(tensor.dtype), tensor.shape) == (dtype, shape)
    expected = np.frombuffer(data, np.uint8) if isinstance(data, bytearray) else np.array(data)
    np.testing.assert_array_equal(np.asarray(tensor), expected)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (2**32, OverflowError),
        ([-1, 2**31], OverflowError),
        ([2**70], OverflowError),
        (1j, TypeError),
        (np.zeros(2, complex), TypeError),
        (np.array(["a"]), TypeError),
        (np.array([object()]), TypeError),
        (np.zeros(2, "datetime64[s]"), TypeError),
        ("text", RuntimeError),
        (b"bytes", RuntimeError),
        ({1, 2}, TypeError),
        ((x for x in [1]), TypeError),
        (None, ValueError),
        ([[1], [1, 2]], ValueError),
        ([np.zeros(2), np.zeros(3)], ValueError),
    ],
)
def test_data_that_is_no_array_is_refused(data: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"test_constructors\.py:\d+"):
        dd.as_tensor(data)


@pytest.mark.parametrize("make", [dd.tensor, dd.as_tensor])
@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[::2],
        lambda a: a.T,
        lambda a: a[::-1],
        lambda a: a.astype(">i4"),
        lambda a: a.astype(">f8"),
    ],
)
def test_strided_and_swapped_arrays_are_copied(make: Any, change: Any) -> None:
    array = change(np.arange(12, dtype=np.int32).reshape(4, 3))
    np.testing.assert_array_equal(np.asarray(make(array)), array)


def test_memory_is_shared_or_copied() -> None:
    array = np.arange(3, dtype=np.float32)
    shared, own = dd.as_tensor(array), dd.tensor(array)
    array[0] = 7
    assert (shared[0].item(), own[0].item()) == (7, 0)
    array.flags.writeable = False
    assert np.asarray(dd.as_tensor(array)).flags.writeable


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        ([1.7], dd.int32, [1]),
        (np.array([2.0, -2.5, 300.0]), dd.uint8, [2, 0, 255]),
        ([1, 2], "f32", [1.0, 2.0]),
        ([1, 2], np.uint8, [1, 2]),
        ([1, 2], "float64", [1.0, 2.0]),
        ([0, 3], bool, [False, True]),
        ([1], float, [1.0]),
        ([1], types.INT16, [1]),
    ],
)
def test_wanted_types(data: Any, dtype: Any, expected: list[Any]) -> None:
    tensor = dd.as_tensor(data, dtype=dtype)
    assert tensor.dtype == dd.dtype(dtype)
    assert np.asarray(tensor).tolist() == expected


def test_types_that_do_not_hold_the_numbers() -> None:
    with pytest.raises(OverflowError, match="300"):
        dd.as_tensor([300], dtype=dd.uint8)
    with pytest.raises(TypeError, match="width"):
        dd.as_tensor([1], dtype=int)
    with pytest.raises(ValueError, match="bfloat"):
        dd.dtype("bfloat16")


def test_samples_of_a_batch() -> None:
    batch = dd.as_batch([np.zeros((2, 3)), np.ones((1, 4))], layout="AB")
    assert (batch.batch_size, batch.shape, batch.layout) == (2, [(2, 3), (1, 4)], "AB")
    scalars = dd.batch([1, 2, 3])
    assert [tensor.item() for tensor in scalars] == [1, 2, 3]
    rows = dd.as_batch(np.arange(6).reshape(3, 2), layout="A")
    assert (rows.batch_size, rows.layout, rows.shape) == (3, "A", [(2,)] * 3)
    of_tensor = dd.batch(dd.as_tensor(np.zeros((2, 4, 4, 3)), layout="NHWC"))
    assert (of_tensor.layout, of_tensor.batch_size) == ("HWC", 2)
    assert dd.batch([], dtype=dd.uint8).batch_size == 0
    assert dd.as_batch(batch) is batch


def test_samples_of_several_types_are_promoted() -> None:
    assert str(dd.batch([1, 2.5]).dtype) == "f32"
    mixed = dd.batch([np.array([200], np.uint8), np.array([-1], np.int16)])
    assert [np.asarray(t).tolist() for t in mixed] == [[200], [-1]]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ([], ValueError),
        (np.float32(1), ValueError),
        (np.array(1), ValueError),
        (3, TypeError),
        ([np.zeros(2), np.zeros((2, 2))], RuntimeError),
        ("abc", RuntimeError),
    ],
)
def test_data_that_is_no_batch_is_refused(data: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"test_constructors\.py:\d+"):
        dd.batch(data)


def test_batches_as_tensors() -> None:
    assert dd.as_tensor(dd.as_batch([[1, 2], [3, 4]])).shape == (2, 2)
    ragged = dd.as_batch([[1, 2], [3]])
    with pytest.raises(ValueError, match="one shape"):
        dd.as_tensor(ragged)
    assert np.asarray(dd.as_tensor(ragged, pad=True)).tolist() == [[1, 2], [3, 0]]


def test_broadcast_repeats_a_sample() -> None:
    batch = dd.Batch.broadcast([1, 2], 3)
    assert [np.asarray(t).tolist() for t in batch] == [[1, 2]] * 3
    assert dd.Batch.broadcast(1, 0).batch_size == 0
    with pytest.raises(ValueError, match="negative"):
        dd.Batch.broadcast(1, -1)
    with pytest.raises(ValueError, match="Batch"):
        dd.Batch.broadcast(batch, 2)


@pytest.mark.parametrize("device", ["mixed", "cpu:1", "tpu"])
def test_unknown_devices(device: str) -> None:
    with pytest.raises(ValueError, match="Device"):
        dd.as_tensor([1], device=device)


def test_values_on_a_device_are_refused() -> None:
    with pytest.raises(RuntimeError, match="host only"):
        dd.as_tensor([1], device="gpu")
    assert dd.as_tensor([1], device="cpu").device == "cpu"
