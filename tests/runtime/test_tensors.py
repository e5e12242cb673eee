"""One tensor in host memory: constructors, views, and memory ownership."""

from __future__ import annotations

import array
import ctypes
import gc
import hashlib
import mmap
import re
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from dali_core import backend, types
from dali_core.errors import ArgumentTypeError
from dali_core.tensors import TensorCPU, TensorListCPU

DTYPES = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
]
arrays = st_numpy.arrays(
    dtype=st.sampled_from(DTYPES),
    shape=st_numpy.array_shapes(min_dims=0, max_dims=8, min_side=0, max_side=4),
)


class Importer:
    """Passes a capsule to a consumer of DLPack."""

    def __init__(self, tensor: TensorCPU, **wanted: Any) -> None:
        self.capsule = tensor.__dlpack__(**wanted)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule


VIEWS: dict[str, Callable[[TensorCPU], Any]] = {
    "array": numpy.asarray,
    "buffer": memoryview,
    "from_dlpack": numpy.from_dlpack,
    "new capsule": lambda tensor: tensor.__dlpack__(max_version=(1, 0)),
    "old capsule": lambda tensor: tensor.__dlpack__(),
    "taken new capsule": lambda tensor: numpy.from_dlpack(Importer(tensor, max_version=(1, 1))),
    "taken old capsule": lambda tensor: numpy.from_dlpack(Importer(tensor)),
    "tensor": TensorCPU,
    "list": lambda tensor: TensorListCPU([tensor], contiguous=False),
    "sample of a list": lambda tensor: TensorListCPU(tensor)[1],
    "joined": lambda tensor: TensorListCPU([tensor], contiguous=False).as_tensor(),
}


# Values


@given(arrays)
def test_all_exports_give_the_same_array(data: numpy.ndarray[Any, Any]) -> None:
    tensor = TensorCPU(data)
    assert tensor.shape() == list(data.shape)
    assert tensor.ndim() == data.ndim
    assert tensor.dtype is types.to_dali_type(data.dtype)
    assert tensor.data_ptr() == data.ctypes.data
    for view in (
        numpy.asarray(tensor),
        numpy.array(tensor, copy=True),
        numpy.asarray(memoryview(tensor)),
        numpy.from_dlpack(tensor),
        numpy.from_dlpack(Importer(tensor)),
        numpy.from_dlpack(Importer(tensor, max_version=(1, 0), copy=True)),
        numpy.asarray(TensorCPU(tensor.__dlpack__(max_version=(1, 0)))),
        numpy.asarray(TensorCPU(tensor.__dlpack__())),
        tensor.__array__(),
    ):
        assert view.dtype == data.dtype
        assert view.shape == data.shape
        numpy.testing.assert_array_equal(view, data)


@given(arrays, st.data())
def test_any_strides_are_understood(data: numpy.ndarray[Any, Any], draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.ndim)))
    steps = draw.draw(st.tuples(*[st.sampled_from([1, -1, 2, -2])] * data.ndim))
    strided = data.transpose(order)[tuple(slice(None, None, step) for step in steps)]
    tensor = TensorCPU(strided)
    numpy.testing.assert_array_equal(numpy.asarray(tensor), strided)
    assert numpy.asarray(tensor).flags.c_contiguous


@pytest.mark.parametrize(
    "data",
    [
        numpy.arange(6, dtype=">i4").reshape(2, 3),
        [[0, 1, 2], [3, 4, 5]],
        memoryview(numpy.arange(6, dtype=numpy.int64).reshape(2, 3)),
        memoryview(array.array("h", range(6))).cast("B").cast("h", (2, 3)),
        numpy.ma.array([[0, 1, 2], [3, 4, 5]]),
    ],
    ids=["swapped bytes", "list", "buffer", "array", "subclass"],
)
def test_accepted_array_types(data: Any) -> None:
    assert numpy.asarray(TensorCPU(data)).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("data", [5, 5.0, numpy.float32(5), numpy.array(5)], ids=repr)
def test_scalars_have_no_dimensions(data: Any) -> None:
    tensor = TensorCPU(data)
    assert (tensor.shape(), tensor.ndim(), numpy.asarray(tensor).item()) == ([], 0, 5)
    with pytest.raises(TypeError, match="has no length"):
        len(tensor)


def test_an_object_with_an_array_interface_is_enough() -> None:
    data = numpy.arange(3)

    class Interface:
        __array_interface__ = data.__array_interface__

    assert TensorCPU(Interface()).data_ptr() == data.ctypes.data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("text", "must be numbers .got str with dtype <U4"),
        (numpy.zeros(2, complex), "must be numbers .got ndarray with dtype complex128"),
        (numpy.array([{}]), "must be numbers .got ndarray with dtype object"),
        (numpy.zeros(2, "i4,f4"), "must be numbers"),
    ],
)
def test_other_data_raises(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        TensorCPU(data)


def test_capsule_is_consumed_once() -> None:
    capsule = TensorCPU(numpy.arange(3)).__dlpack__()
    assert TensorCPU(capsule).shape() == [3]
    with pytest.raises((TypeError, ValueError)):
        TensorCPU(capsule)


def test_nine_dimensions_are_too_many() -> None:
    assert TensorCPU(numpy.zeros((1,) * 8)).ndim() == 8
    with pytest.raises(ValueError, match=r"at most 8 dimensions \(got 9\)"):
        TensorCPU(numpy.zeros((1,) * 9))


# Without copying


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_keep_memory_alive(view: Callable[[TensorCPU], Any]) -> None:
    data = numpy.arange(1000)
    owner = weakref.ref(data)
    tensor = TensorCPU(data)
    del data
    kept = view(tensor)
    del tensor
    gc.collect()
    assert owner() is not None
    del kept
    gc.collect()
    assert owner() is None


def test_views_share_memory() -> None:
    data = numpy.zeros(4, numpy.float32)
    tensor = TensorCPU(data)
    numpy.asarray(tensor)[0] = 1
    numpy.from_dlpack(tensor)[1] = 2
    memoryview(tensor)[2] = 3
    assert data.tolist() == [1, 2, 3, 0]
    assert numpy.asarray(tensor).tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("wanted", [{}, {"max_version": (1, 0)}], ids=["old", "new"])
def test_copies_are_separate(wanted: dict[str, Any]) -> None:
    data = numpy.zeros(4)
    copy = numpy.from_dlpack(Importer(TensorCPU(data), copy=True, **wanted))
    data[:] = 1
    assert copy.tolist() == [0, 0, 0, 0]


def test_view_survives_changes_of_its_tensor() -> None:
    data = numpy.arange(6).reshape(1, 6)
    owner = weakref.ref(data)
    tensor = TensorCPU(data)
    del data
    view = memoryview(tensor)
    tensor.squeeze()
    again = memoryview(tensor)
    tensor.__init__(numpy.zeros(3))  # type: ignore[misc]
    gc.collect()
    assert owner() is not None
    assert (view.shape, again.shape) == ((1, 6), (6,))
    assert (view.tolist(), again.tolist()) == ([[0, 1, 2, 3, 4, 5]], [0, 1, 2, 3, 4, 5])


# Read-only memory


def _read_only_memory() -> list[Any]:
    locked = numpy.arange(8, dtype=numpy.uint8)
    locked.flags.writeable = False
    mapped = mmap.mmap(-1, 8, access=mmap.ACCESS_READ)
    return [locked, b"\0\1\2\3\4\5\6\7", memoryview(mapped)]


@pytest.mark.parametrize("data", _read_only_memory(), ids=["array", "bytes", "mapped file"])
def test_read_only_memory_stays_read_only(data: Any) -> None:
    data = data if isinstance(data, numpy.ndarray) else numpy.frombuffer(data, numpy.uint8)
    batch = TensorListCPU([data], contiguous=False)
    for tensor in (TensorCPU(data), batch[0], batch.as_tensor()):
        assert tensor.data_ptr() == data.ctypes.data
        assert memoryview(tensor).readonly
        assert not numpy.asarray(tensor).flags.writeable
        assert tensor.__array_interface__["data"] == (data.ctypes.data, True)
        assert not numpy.from_dlpack(Importer(tensor, max_version=(1, 0))).flags.writeable
        with pytest.raises(BufferError, match="must be writable for consumers of DLPack before"):
            tensor.__dlpack__()
        with pytest.raises((BufferError, TypeError), match="writ"):
            (ctypes.c_char * 4).from_buffer(tensor)
        tensor.__dlpack__(copy=True)
        assert numpy.from_dlpack(Importer(tensor, max_version=(1, 0), copy=True)).flags.writeable


# Protocols


def test_the_buffer_is_described() -> None:
    view = memoryview(TensorCPU(numpy.zeros((2, 3), numpy.float32)))
    assert (view.format, view.itemsize, view.shape, view.strides) == ("f", 4, (2, 3), (12, 4))
    assert not view.readonly
    assert view.c_contiguous


@pytest.mark.parametrize("dtype", DTYPES)
def test_formats_are_those_of_numpy(dtype: str) -> None:
    data = numpy.zeros(2, dtype)
    view = memoryview(TensorCPU(data))
    assert numpy.dtype(view.format or "") == data.dtype
    assert TensorCPU(data).__array_interface__["typestr"] == data.dtype.str


def test_plain_bytes_are_enough_for_simple_consumers() -> None:
    data = numpy.arange(6).reshape(2, 3)
    tensor = TensorCPU(data)
    assert hashlib.sha256(tensor).digest() == hashlib.sha256(data).digest()
    assert bytes(tensor) == data.tobytes()


def test_conversion_needs_a_copy() -> None:
    tensor = TensorCPU(numpy.arange(3))
    assert tensor.__array__(numpy.float32).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"copy=False needs the tensor's own dtype int64"):
        tensor.__array__(numpy.float32, copy=False)


def test_dlpack_is_for_the_host() -> None:
    tensor = TensorCPU(numpy.arange(3))
    assert tensor.__dlpack_device__() == (1, 0)
    assert tensor.__dlpack__(dl_device=(1, 0)) is not None
    with pytest.raises(BufferError, match=r"dl_device must be the host, \(1, 0\) \(got \(2, 0\)\)"):
        tensor.__dlpack__(dl_device=(2, 0))
    assert tensor.__dlpack__(1) is not None, "host memory needs no stream"


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((2, 3), "dltensor_versioned"),
    ],
)
def test_consumers_choose_the_capsule(wanted: tuple[int, int] | None, name: str) -> None:
    capsule = TensorCPU(numpy.arange(3)).__dlpack__(max_version=wanted)
    assert f'"{name}"' in repr(capsule)


@pytest.mark.parametrize("target", ["c_void_p", "int"])
def test_copy_to_an_address(target: str) -> None:
    data = numpy.arange(6, dtype=numpy.int16).reshape(2, 3)
    result = numpy.zeros_like(data)
    address = result.ctypes.data
    TensorCPU(data).copy_to_external(ctypes.c_void_p(address) if target == "c_void_p" else address)
    numpy.testing.assert_array_equal(result, data)


@pytest.mark.parametrize("wrong", [None, 0, ctypes.c_void_p(None), "0x10", True, -1, 1.5])
def test_other_addresses_raise(wrong: Any) -> None:
    with pytest.raises(TypeError, match="copy_to_external: ptr must be a non-null"):
        TensorCPU(numpy.arange(3)).copy_to_external(wrong)


# Layout and shape


def test_layout_and_properties() -> None:
    tensor = TensorCPU(numpy.zeros((2, 3)), "HW")
    assert (tensor.layout(), tensor.get_property("layout")) == ("HW", "HW")
    assert (tensor.source_info(), tensor.get_property("source_info")) == ("", None)
    assert TensorCPU(tensor).layout() == "HW"
    assert TensorCPU(tensor, "XY").layout() == "XY"
    assert TensorCPU(numpy.zeros((2, 3))).layout() == ""
    assert tensor.get_property("colour") is None


@pytest.mark.parametrize("wrong", ["H", "HWC", "Hµ", "H\0"])
def test_layouts_have_a_letter_for_each_dimension(wrong: str) -> None:
    message = f"one ASCII letter for each of the 2 dimensions (got {wrong!r})"
    with pytest.raises(ValueError, match=re.escape(message)):
        TensorCPU(numpy.zeros((2, 3)), wrong)


@pytest.mark.parametrize(
    ("shape", "layout", "dim", "expected"),
    [
        ((1, 2, 1), "HWC", None, (True, [2], "W")),
        ((1, 2, 1), "HWC", 0, (True, [2, 1], "WC")),
        ((1, 2, 1), "HWC", -1, (True, [1, 2], "HW")),
        ((1, 2, 1), "HWC", 1, (False, [1, 2, 1], "HWC")),
        ((2, 3), "", None, (False, [2, 3], "")),
        ((1, 1), "", None, (True, [], "")),
        ((1, 0), "", None, (True, [0], "")),
        ((), "", None, (False, [], "")),
    ],
)
def test_squeeze(
    shape: tuple[int, ...], layout: str, dim: int | None, expected: tuple[bool, list[int], str]
) -> None:
    tensor = TensorCPU(numpy.zeros(shape), layout)
    changed = tensor.squeeze(dim)
    assert (changed, tensor.shape(), tensor.layout()) == expected
    assert list(numpy.asarray(tensor).shape) == expected[1]


@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 2), ((2, 3), -3), ((), 0)])
def test_squeeze_knows_its_dimensions(shape: tuple[int, ...], dim: int) -> None:
    message = rf"squeeze: dim must be one of the {len(shape)} dimensions \(got {dim}\)"
    with pytest.raises(IndexError, match=message):
        TensorCPU(numpy.zeros(shape)).squeeze(dim)


@pytest.mark.parametrize("wrong", ["0", 0.5, (0,)])
def test_squeeze_takes_integers(wrong: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"TensorCPU\.squeeze: dim must be an integer"):
        TensorCPU(numpy.zeros((1, 2))).squeeze(wrong)


def test_squeeze_leaves_other_tensors_alone() -> None:
    tensor = TensorCPU(numpy.zeros((1, 2)))
    other = TensorCPU(tensor)
    tensor.squeeze()
    assert other.shape() == [1, 2]


# The rest


def test_length_and_identity() -> None:
    tensor = TensorCPU(numpy.zeros((2, 3)), is_pinned=True)
    assert len(tensor) == 2
    assert tensor.as_cpu() is tensor
    assert backend.TensorCPU is TensorCPU
