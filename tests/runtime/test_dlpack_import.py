"""DLPack capsules of other libraries are consumed, copied or rejected, and released."""

from __future__ import annotations

import gc
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from dali_core.errors import ArgumentTypeError, ArgumentValueError, ExchangeError
from dali_core.tensors import TensorCPU, TensorListCPU
from tests.runtime.dlpack_producer import OldProducer, Producer

DTYPES = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
]
BOTH = pytest.mark.parametrize("versioned", [False, True], ids=["old", "new"])


@given(
    st_numpy.arrays(st.sampled_from(DTYPES), st_numpy.array_shapes(min_dims=0, max_dims=5)),
    st.data(),
)
def test_any_strides_are_understood(data: numpy.ndarray[Any, Any], draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.ndim)))
    steps = draw.draw(st.tuples(*[st.sampled_from([1, -1, 2, -2, 3])] * data.ndim))
    strided = data.transpose(order)[(..., *(slice(None, None, step) for step in steps))]
    producer = Producer(strided, versioned=draw.draw(st.booleans()))
    tensor = TensorCPU(producer)
    numpy.testing.assert_array_equal(numpy.asarray(tensor), strided, strict=True)
    del tensor
    assert (producer.num_calls, producer.num_returned) == (1, 1)


@BOTH
@pytest.mark.parametrize("with_strides", [False, True])
@pytest.mark.parametrize("byte_offset", [0, 24])
def test_contiguous_memory_is_zero_copy(
    versioned: bool, with_strides: bool, byte_offset: int
) -> None:
    data = numpy.arange(6).reshape(2, 3)
    producer = Producer(
        data, versioned=versioned, with_strides=with_strides, byte_offset=byte_offset
    )
    tensor = TensorCPU(producer)
    assert tensor.data_ptr() == data.ctypes.data
    assert numpy.asarray(tensor).tolist() == [[0, 1, 2], [3, 4, 5]]
    view = numpy.asarray(tensor)
    del tensor
    gc.collect()
    assert producer.num_returned == 0
    view[0, 0] = 7
    assert data[0, 0] == 7
    del view
    gc.collect()
    assert producer.num_returned == 1


def test_broadcast_and_reversed_memory_is_copied() -> None:
    row = numpy.arange(3)
    for strided in (numpy.broadcast_to(row, (2, 3)), row[::-1], row[:0]):
        producer = Producer(strided)
        tensor = TensorCPU(producer)
        numpy.testing.assert_array_equal(numpy.asarray(tensor), strided, strict=True)
        assert producer.num_returned == (strided.size > 0), "what was copied is given back at once"


@pytest.mark.parametrize("flags", [0, 1, 2])
def test_read_only_memory_stays_read_only(flags: int) -> None:
    tensor = TensorCPU(Producer(numpy.zeros(3), versioned=True, flags=flags))
    assert memoryview(tensor).readonly is (flags == 1)


def test_unversioned_producers_are_supported() -> None:
    producer = OldProducer(numpy.arange(3))
    assert numpy.asarray(TensorCPU(producer)).tolist() == [0, 1, 2]
    assert producer.num_calls == 1


@BOTH
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"device": 2}, r"be in host memory \(got a tensor on device type 2\). Copy it"),
        ({"code": 4, "bits": 16}, "got DLPack's type code 4 with 16 bits and 1 lanes"),
        ({"code": 5, "bits": 64}, "type code 5 with 64 bits"),
        ({"bits": 24}, "with 24 bits"),
        ({"bits": 128}, "with 128 bits"),
        ({"code": 2, "bits": 8}, "type code 2 with 8 bits"),
        ({"code": 6, "bits": 32}, "type code 6 with 32 bits"),
        ({"lanes": 4}, "4 lanes"),
    ],
    ids=str,
)
def test_invalid_capsules_raise_and_call_their_deleter(
    versioned: bool, wrong: dict[str, int], message: str
) -> None:
    producer = Producer(numpy.arange(3), versioned=versioned, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=message):
        TensorCPU(producer)
    gc.collect()
    assert producer.num_returned == 1


def test_too_many_dimensions_call_the_deleter() -> None:
    producer = Producer(numpy.zeros((1,) * 9))
    with pytest.raises(ArgumentTypeError, match=r"at most 8 dimensions \(got 9\)"):
        TensorCPU(producer)
    assert producer.num_returned == 1


def test_pinned_memory_is_accepted_as_host_memory() -> None:
    assert TensorCPU(Producer(numpy.arange(3), device=3)).shape() == [3]


def test_capsule_of_a_future_version_is_not_consumed() -> None:
    producer = Producer(numpy.arange(3), versioned=True, version=(2, 0))
    with pytest.raises(ExchangeError, match=r"of DLPack version 1 \(got version 2\)"):
        TensorCPU(producer)
    assert producer.num_returned == 0


@BOTH
def test_capsule_is_consumed_once(versioned: bool) -> None:
    capsule = Producer(numpy.arange(3), versioned=versioned).__dlpack__()
    kept = TensorCPU(capsule)
    with pytest.raises(ArgumentValueError, match="that was not consumed yet"):
        TensorCPU(capsule)
    del kept


def test_a_producer_that_gives_something_else() -> None:
    class Wrong:
        def __dlpack__(self, **_: Any) -> int:
            return 5

    with pytest.raises(ArgumentTypeError, match=r"must give a capsule from __dlpack__ \(got int"):
        TensorCPU(Wrong())


def test_producer_that_raises() -> None:
    class Refuses:
        def __dlpack__(self, **_: Any) -> None:
            raise BufferError("it needs a gradient")

    with pytest.raises(ExchangeError, match="got Refuses, which says: it needs a gradient") as info:
        TensorCPU(Refuses())
    assert isinstance(info.value.__cause__, BufferError)


# Lists of producers


def test_lists_of_producers_share_or_copy() -> None:
    arrays = [numpy.full((size, 2), size, numpy.int16) for size in (1, 3)]
    for contiguous in (False, True):
        producers = [Producer(array) for array in arrays]
        batch = TensorListCPU.from_dlpack_list(producers, "HW", contiguous=contiguous)
        assert batch.shape() == [(1, 2), (3, 2)]
        assert batch.layout() == "HW"
        assert [part.tolist() for part in map(batch.at, range(2))] == [
            part.tolist() for part in arrays
        ]
        assert [producer.num_returned for producer in producers] == [contiguous] * 2
        del batch
        assert [producer.num_returned for producer in producers] == [1, 1]


def test_failure_in_a_list_calls_all_deleters() -> None:
    producers = [Producer(numpy.zeros(3)), Producer(numpy.zeros(3), device=2)]
    with pytest.raises(ArgumentTypeError, match="host memory"):
        TensorListCPU.from_dlpack_list(producers)
    gc.collect()
    assert [producer.num_returned for producer in producers] == [1, 1]


def test_lists_need_producers() -> None:
    with pytest.raises(ArgumentTypeError, match=r"item 1 must support DLPack \(got list\)"):
        TensorListCPU.from_dlpack_list([numpy.zeros(3), [1]])
    with pytest.raises(ArgumentTypeError, match="one dtype and number of dimensions"):
        TensorListCPU.from_dlpack_list([numpy.zeros(3), numpy.zeros((3, 3))])
