"""Sizes that overflow, and requests beyond the memory of the machine, are rejected immediately."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    OutOfMemoryError,
    SampleError,
)
from dali_core.tensors import TensorCPU, TensorListCPU
from tests.hanging import HANG_SECONDS
from tests.operators.suite import pipeline
from tests.runtime.dlpack_producer import Producer

# 2**62 + 1 elements of four bytes overflow to four bytes, one element.
WRAPS = 2**62 + 1
EXTREMES = st.sampled_from([2**31, 2**32 + 1, 2**53, 2**61 + 1, WRAPS, 2**63 - 1, 0, 1, 3])


class Interface:
    """Data that states arbitrary properties."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.data = np.zeros(4, np.uint8)
        self.__array_interface__ = {**self.data.__array_interface__, "shape": shape}


def outputs(make: Any, **settings: Any) -> list[np.ndarray]:
    with pipeline(batch_size=1, **settings) as made:
        with made:
            made.set_outputs(make())
        (batch,) = made.run()
        return [np.array(batch.at(i)) for i in range(len(batch))]


def foreign_memory() -> Any:
    filled = fn.zeros(shape=[WRAPS], dtype=types.INT32)
    return fn.slice(filled, start=[1000], shape=[64], axes=[0])


def test_slice_of_overflowing_shape_raises() -> None:
    with pytest.raises(SampleError, match=r"at most 140737488355328 bytes.*4611686018427387905"):
        outputs(foreign_memory)


def test_document_with_overflowing_shape_raises() -> None:
    with pipeline(batch_size=1) as made:
        with made:
            filled = fn.zeros(shape=[4096], dtype=types.INT32)
            made.set_outputs(fn.slice(filled, start=[1000], shape=[64], axes=[0]))
        document = json.loads(made.serialize())
    (entry,) = (entry for entry in document["operators"] if entry["operator"] == "zeros")
    entry["arguments"]["shape"] = [WRAPS]
    read = Pipeline.deserialize(json.dumps(document))
    with pytest.raises(SampleError, match="4611686018427387905"):
        read.run()
    read.close()


def test_the_error_names_operator_line_and_sample() -> None:
    with pytest.raises(SampleError) as raised:
        outputs(lambda: fn.ones(shape=[2**61 + 1], dtype=types.FLOAT))
    assert raised.value.operator == "ones"
    assert "test_sizes.py" in raised.value.location
    assert raised.value.sample == 0


@pytest.mark.parametrize("shape", [[2**40], [2**46], [WRAPS], [2**32, 2**32, 2**32], [2**63 - 1]])
def test_constants_beyond_memory(shape: list[int]) -> None:
    refused = rf"fn.constant at .*test_sizes.py.*(got none for {4 * shape[0]}|shape \({shape[0]},)"
    with pytest.raises(ArgumentValueError, match=refused):
        outputs(lambda: fn.constant(fdata=1.0, shape=shape))


@settings(max_examples=60, deadline=None)
@given(st.lists(EXTREMES, min_size=1, max_size=4))
def test_reshape_never_gives_more_elements_than_there_are(shape: list[int]) -> None:
    try:
        (made,) = outputs(lambda: fn.reshape(fn.zeros(shape=[3], dtype=types.UINT8), shape=shape))
    except DaliCoreError:
        assert sorted(extent for extent in shape if extent != 1) != [3]
    else:
        assert made.size == 3


@settings(max_examples=60, deadline=None)
@given(st.lists(EXTREMES, max_size=8), st.sampled_from(["uint8", "float64"]), st.booleans())
def test_exporters_of_impossible_shapes_raise(
    shape: list[int], dtype: str, versioned: bool
) -> None:
    producer = Producer(np.zeros(1, dtype), versioned=versioned, shape=shape)
    bytes_beside_zero = np.prod([extent for extent in shape if extent], dtype=object)
    if bytes_beside_zero * np.dtype(dtype).itemsize <= 2**47:
        assert TensorCPU(producer).shape() == shape
    else:
        with pytest.raises(ArgumentTypeError, match="at most 140737488355328 bytes"):
            TensorCPU(producer)
    assert producer.num_calls == 1


@pytest.mark.parametrize("shape", [(2**40, 2**20, 0), (2**62, 0)])
def test_arrays_without_elements_have_possible_extents(shape: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentValueError, match="at most 140737488355328 bytes"):
        TensorCPU(np.empty(shape, np.uint8))


def test_broadcast_array_beyond_memory_raises() -> None:
    with pytest.raises(MemoryError, match="memory must be available"):
        TensorCPU(np.broadcast_to(np.uint8(1), (2**46,)))


def test_as_many_samples_as_there_is_memory_for() -> None:
    with pytest.raises(MemoryError, match="memory must be available"):
        TensorListCPU(np.empty((2**46, 0), np.uint8))


def test_a_batch_beyond_memory() -> None:
    with Pipeline(2**30 - 1, 1, None, prefetch_queue_depth=1) as made:
        made.set_outputs(*[fn.zeros(shape=[k]) for k in range(8)])
    with pytest.raises(OutOfMemoryError, match="Pipeline: memory must be available"):
        made.run()
    made.close()


PROGRAM = """
from dali_core import fn, types
from dali_core.errors import SampleError
from tests.operators.suite import pipeline

with pipeline(batch_size=4, prefetch_queue_depth=1) as made:
    with made:
        made.set_outputs(fn.zeros(shape=fn.external_source(name="shape"), dtype=types.UINT8))
    for extent in (1000, 1 << 20, 1000):
        made.feed_input("shape", [[extent]] * 4)
        try:
            print(made.run()[0].shape()[0])
        except SampleError as error:
            print(error.sample, error.message)
"""


def limited(limit: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "DALI_CORE_MEMORY_LIMIT": limit},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )


def test_the_limit_can_be_set() -> None:
    first, second, third = limited(str(1 << 20)).stdout.splitlines()
    assert first == third == "(1000,)"
    assert "memory must be available (got none for 1048576 bytes; at most 1048576 may" in second


def test_a_limit_that_is_no_number() -> None:
    result = limited("8 GB")
    assert result.returncode == 1
    assert 'DALI_CORE_MEMORY_LIMIT must be a number of bytes (got "8 GB")' in result.stderr
