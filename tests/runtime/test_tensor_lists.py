"""A batch of tensors: its samples, and the batch as one tensor."""

from __future__ import annotations

import ctypes
import gc
import re
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from dali_core import Pipeline, fn, types
from dali_core.errors import ArgumentTypeError
from dali_core.tensors import TensorCPU, TensorListCPU

batches = st_numpy.arrays(
    dtype=st.sampled_from(["uint8", "int32", "float16", "float64", "bool"]),
    shape=st_numpy.array_shapes(min_dims=1, max_dims=8, min_side=0, max_side=4),
)


# Values


@given(batches)
def test_an_array_is_a_batch_of_its_parts(data: numpy.ndarray[Any, Any]) -> None:
    batch = TensorListCPU(data)
    assert len(batch) == len(data)
    assert batch.shape() == [data.shape[1:]] * len(data)
    assert batch.is_dense_tensor()
    for sample, part in zip(batch, data, strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(sample), part)
    if len(data):
        assert batch.dtype is types.to_dali_type(data.dtype)
        assert batch.ndim() == data.ndim - 1
        assert batch.data_ptr() == batch.as_tensor().data_ptr() == data.ctypes.data
        numpy.testing.assert_array_equal(batch.as_array(), data)
        assert batch.as_array().dtype == data.dtype
    joined = numpy.zeros_like(data)
    batch.copy_to_external(ctypes.c_void_p(joined.ctypes.data))
    numpy.testing.assert_array_equal(joined, data)


@given(batches)
def test_separate_arrays_become_one(data: numpy.ndarray[Any, Any]) -> None:
    batch = TensorListCPU([part.copy() for part in data])
    assert batch.is_dense_tensor()
    joined = batch.as_array()
    if len(data):
        numpy.testing.assert_array_equal(joined, data)
        assert joined.shape == data.shape
    if joined.size:
        step = joined.nbytes // len(joined)
        starts = [joined.ctypes.data + index * step for index in range(len(joined))]
        assert [sample.data_ptr() for sample in batch] == starts
        assert batch.as_tensor().data_ptr() == starts[0]


def test_ragged_batches() -> None:
    parts = [numpy.full((size, 2), size, numpy.int32) for size in (3, 1, 0)]
    batch = TensorListCPU(parts, "HW", contiguous=False)
    assert batch.shape() == [(3, 2), (1, 2), (0, 2)]
    assert (batch.dtype, batch.ndim(), batch.layout()) == (types.INT32, 2, "HW")
    assert not batch.is_dense_tensor()
    for index, part in enumerate(parts):
        assert batch.at(index).ctypes.data == part.ctypes.data
        numpy.testing.assert_array_equal(batch.at(index), part)
    with pytest.raises(ValueError, match=r"the same shape \(got \(3, 2\), \(1, 2\), \(0, 2\)\)"):
        batch.as_tensor()
    result = numpy.zeros(8, numpy.int32)
    batch.copy_to_external(result.ctypes.data)
    assert result.tolist() == [3, 3, 3, 3, 3, 3, 1, 1]


def test_a_list_of_a_list_shares_its_samples() -> None:
    first = TensorListCPU(numpy.zeros((2, 3, 4)), "HW")
    same, other = TensorListCPU(first), TensorListCPU(first, "XY")
    assert (same.layout(), other.layout(), first.layout()) == ("HW", "XY", "HW")
    assert same.data_ptr() == other.data_ptr() == first.data_ptr()


def test_lists_take_anything_that_is_an_array() -> None:
    tensor = TensorCPU([1, 2])
    batch = TensorListCPU((tensor, [3, 4], numpy.array([5, 6]), tensor.__dlpack__()))
    assert batch.as_array().tolist() == [[1, 2], [3, 4], [5, 6], [1, 2]]
    assert TensorListCPU(TensorCPU(numpy.zeros((2, 3))).__dlpack__()).shape() == [(3,), (3,)]


def test_empty_lists() -> None:
    batch = TensorListCPU([])
    assert (len(batch), batch.shape(), batch.layout(), batch.ndim()) == (0, [], "", 0)
    assert (batch.dtype, batch.data_ptr()) == (types.NO_TYPE, 0)
    assert batch.is_dense_tensor()
    assert batch.as_array().shape == (0,)
    assert list(batch) == []


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (5, ValueError, "batch as its first dimension (got a scalar)"),
        ([[1], [1.5]], TypeError, "INT64 with 1 and, for sample 1, DALIDataType.FLOAT64 with 1"),
        ([[1], [[1]]], TypeError, "INT64 with 1 and, for sample 1, DALIDataType.INT64 with 2"),
        ([["a"]], TypeError, "must be numbers"),
    ],
)
def test_samples_must_be_of_one_kind(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        TensorListCPU(data)


# Indices and layouts


def test_indices() -> None:
    batch = TensorListCPU(numpy.arange(3))
    assert [int(batch.at(index)) for index in (0, 2, -1, -3)] == [0, 2, 2, 0]
    for wrong in (3, -4, 2**70):
        with pytest.raises(IndexError, match=rf"below the 3 samples of the batch \(got {wrong}\)"):
            batch[wrong]
    with pytest.raises(IndexError):
        TensorListCPU([]).at(0)


def test_layouts() -> None:
    batch = TensorListCPU(numpy.zeros((2, 3, 4)), "HW")
    assert batch[0].layout() == "HW"
    assert batch.as_tensor().layout() == "NHW"
    assert TensorListCPU(TensorCPU(numpy.zeros((2, 3)), "NX")).layout() == ""
    assert TensorListCPU([TensorCPU([1], "X")]).layout() == "X"
    for wrong in ("H", "NHW"):
        with pytest.raises(ValueError, match="one ASCII letter for each of the 2 dimensions"):
            TensorListCPU(numpy.zeros((2, 3, 4)), wrong)


def test_samples_of_eight_dimensions_cannot_be_joined() -> None:
    batch = TensorListCPU([numpy.zeros((1,) * 8)] * 2)
    assert batch[1].ndim() == 8
    with pytest.raises(ValueError, match="at most 7 dimensions"):
        batch.as_tensor()


# Other shapes


@pytest.mark.parametrize("shape", [[6], (3, 2), (1, 6, 1), range(6, 7)], ids=str)
def test_reshape(shape: Any) -> None:
    batch = TensorListCPU(numpy.arange(6).reshape(2, 3), "W")
    tensor = batch.as_reshaped_tensor(shape)
    assert tensor.layout() == ("NW" if tensor.ndim() == 2 else "")
    assert tensor.data_ptr() == batch.data_ptr()
    assert numpy.asarray(tensor).ravel().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("shape", [[5], [], (-1, -6), (-2, 3), (2**40, 2**40)])
def test_reshape_keeps_the_number_of_elements(shape: Any) -> None:
    batch = TensorListCPU(numpy.arange(6).reshape(2, 3))
    with pytest.raises(ValueError, match=r"must have 6 elements \(got "):
        batch.as_reshaped_tensor(shape)


@pytest.mark.parametrize("wrong", [[6.0], ["6"], "6"])
def test_reshape_takes_integers(wrong: Any) -> None:
    batch = TensorListCPU(numpy.arange(6).reshape(2, 3))
    with pytest.raises(ArgumentTypeError, match=r"every extent of shape must be an integer"):
        batch.as_reshaped_tensor(wrong)


def test_reshape_to_too_many_dimensions() -> None:
    batch = TensorListCPU(numpy.arange(6).reshape(2, 3))
    assert batch.as_reshaped_tensor((6, 1, 1, 1, 1, 1, 1, 1)).ndim() == 8
    with pytest.raises(ValueError, match=r"at most 8 dimensions \(got 40\)"):
        batch.as_reshaped_tensor((6, *[1] * 39))


# Memory

VIEWS: dict[str, Callable[[TensorListCPU], Any]] = {
    "array": lambda batch: batch.as_array(),
    "tensor": lambda batch: batch.as_tensor(),
    "other shape": lambda batch: batch.as_reshaped_tensor([20]),
    "sample": lambda batch: batch[1],
    "array of a sample": lambda batch: batch.at(0),
    "list": TensorListCPU,
    "capsule": lambda batch: batch.as_tensor().__dlpack__(),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_keep_memory_alive(view: Callable[[TensorListCPU], Any]) -> None:
    data = numpy.zeros((2, 10))
    owner = weakref.ref(data)
    batch = TensorListCPU(data)
    del data
    kept = view(batch)
    del batch
    gc.collect()
    assert owner() is not None
    del kept
    gc.collect()
    assert owner() is None


def test_neighbours_in_memory_are_all_kept() -> None:
    buffer = bytearray(16)

    class Part:
        """Has its own lifetime, and memory directly after that of the previous one."""

        def __init__(self, start: int) -> None:
            address = ctypes.addressof(ctypes.c_char.from_buffer(buffer)) + start
            self.__array_interface__ = {
                "version": 3,
                "shape": (8,),
                "typestr": "|u1",
                "data": (address, False),
            }

    parts = [Part(0), Part(8)]
    owners = [weakref.ref(part) for part in parts]
    batch = TensorListCPU(list(parts), contiguous=False)
    joined = batch.as_tensor()
    del parts, batch
    gc.collect()
    assert joined.data_ptr() == ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    assert [owner() is not None for owner in owners] == [True, True]


def test_joining_leaves_the_arrays_alone() -> None:
    parts = [numpy.zeros(3), numpy.ones(3)]
    batch = TensorListCPU(parts, contiguous=False)
    batch.as_array()[:] = 7
    assert [part.tolist() for part in parts] == [[0, 0, 0], [1, 1, 1]]
    assert batch.at(0).tolist() == [7, 7, 7]


def test_joined_read_only_arrays_may_be_written() -> None:
    parts = [numpy.zeros(3), numpy.ones(3)]
    parts[1].flags.writeable = False
    batch = TensorListCPU(parts, contiguous=False)
    assert not batch.at(1).flags.writeable
    batch.as_array()[:] = 7
    assert parts[1].tolist() == [1, 1, 1]


def test_outputs_of_a_pipeline_are_never_overwritten() -> None:
    def source() -> Iterator[numpy.ndarray[Any, Any]]:
        for number in range(40):
            yield numpy.full((3, 1000), number, numpy.int32)

    pipeline = Pipeline(batch_size=3, num_threads=2, prefetch_queue_depth=2)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=source))
    views = (
        lambda batch: batch,
        lambda batch: batch.as_array(),
        lambda batch: batch[1],
        lambda batch: memoryview(batch.as_tensor()),
        lambda batch: numpy.from_dlpack(batch.as_tensor()),
        lambda batch: batch.as_tensor().__dlpack__(),
    )
    held = [views[number % len(views)](*pipeline.run()) for number in range(40)]
    pipeline.close()
    del pipeline
    gc.collect()
    for number, view in enumerate(held):
        kind = number % len(views)
        tensor = view.as_tensor() if kind == 0 else TensorCPU(view)
        assert numpy.unique(numpy.asarray(tensor)).tolist() == [number]


# The rest


def test_identity() -> None:
    batch = TensorListCPU(numpy.zeros((2, 3), numpy.uint8), "W", is_pinned=True)
    assert batch.as_cpu() is batch


@pytest.mark.parametrize("wrong", [None, 0, "0x10"])
def test_other_addresses_raise(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"TensorListCPU\.copy_to_external: ptr must be a non-null"):
        TensorListCPU([[1]]).copy_to_external(wrong)
