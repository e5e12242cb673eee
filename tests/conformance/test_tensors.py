"""`TensorCPU` and `TensorListCPU` behave like those of NVIDIA DALI in every call.

Where this library differs on purpose:

* Memory that is not dense, lists of numbers, objects with `__dlpack__` and versioned capsules are
  accepted. Big-endian numbers are converted, and complex ones rejected; the reference misinterprets
  the bytes of both. Tensors have at most eight dimensions.
* A tensor of a tensor keeps its layout.
* A tensor of read-only memory is read-only.
* `at` and `as_array` share the memory of the batch; those of the reference are copies.
* Negative indices are supported by `at`, too, and slices by `[]`. A list of separate samples
  counts as dense if their shapes are equal; `as_tensor` and `data_ptr` make them contiguous.
* Empty batches become tensors with a batch dimension; the reference omits it.
* Tensors can be copied and pickled.
* The texts have no trailing whitespace.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core.tensors
import dali_core.types

reference = pytest.importorskip("nvidia.dali.tensors", reason="not available: NVIDIA DALI")
torch = pytest.importorskip("torch", reason="not available: PyTorch")
reference_types = pytest.importorskip("nvidia.dali.types", reason="not available: NVIDIA DALI")

IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)
LONG = IMAGE.reshape(1, 2, 3, 4, 1)


class Library:
    """The classes of one of the libraries."""

    def __init__(self, tensors: Any, types: Any) -> None:
        self.tensor = tensors.TensorCPU
        self.list = tensors.TensorListCPU
        self.types = types

    def ragged(self, layout: str | None = None, **arguments: Any) -> Any:
        """Return a list of two images of different height."""
        return self.list([self.tensor(IMAGE), self.tensor(IMAGE[:1])], layout, **arguments)


LIBRARIES = (
    Library(reference, reference_types),
    Library(dali_core.tensors, dali_core.types),
)
Call = Callable[[Library], Any]


def readable(value: Any, library: Library) -> Any:
    """Convert a result to a form that can be compared between the libraries."""
    if isinstance(value, library.tensor):
        kind = (value.dtype.name, tuple(value.shape()), value.ndim(), value.layout())
        return ("tensor", *kind, np.array(value).tolist())
    if isinstance(value, library.list):
        samples = [np.array(sample).tolist() for sample in value]
        kind = (value.dtype.name, value.shape(), value.ndim(), value.layout())
        return ("list", *kind, value.is_dense_tensor(), samples)
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tolist())
    if isinstance(value, library.types.DALIDataType):
        return value.name
    if isinstance(value, str):
        return "\n".join(line.rstrip() for line in value.splitlines())
    if isinstance(value, (tuple, list)):
        return [readable(item, library) for item in value]
    return value


def outcome(call: Call, library: Library) -> Any:
    """Return the result of a call, or the kind of its error."""
    try:
        return readable(call(library), library)
    except TypeError:
        return "TypeError"
    except (ValueError, RuntimeError, IndexError, BufferError):
        return "another error"


def check(call: Call) -> None:
    theirs, ours = (outcome(call, library) for library in LIBRARIES)
    assert ours == theirs


def after(make: Call, change: Callable[[Any], Any]) -> Call:
    """Create an object, modify it, and return it with the result of the modification."""

    def call(library: Library) -> Any:
        value = make(library)
        return change(value), value

    return call


CONSTRUCTORS: dict[str, Call] = {
    "array": lambda lib: lib.tensor(IMAGE),
    "with layout": lambda lib: lib.tensor(IMAGE, "HWC"),
    "with named layout": lambda lib: lib.tensor(IMAGE, layout="HWC"),
    "without layout": lambda lib: lib.tensor(IMAGE, layout=None),
    "empty layout": lambda lib: lib.tensor(IMAGE, ""),
    "short layout": lambda lib: lib.tensor(IMAGE, "HW"),
    "long layout": lambda lib: lib.tensor(IMAGE, "HWCD"),
    "foreign letters": lambda lib: lib.tensor(IMAGE, "HÄC"),
    "digits": lambda lib: lib.tensor(IMAGE, "123"),
    "wrong layout": lambda lib: lib.tensor(IMAGE, 5),
    "not pinned": lambda lib: lib.tensor(IMAGE, "HWC", False),
    "nothing": lambda lib: lib.tensor(),
    "None": lambda lib: lib.tensor(None),
    "unknown keyword": lambda lib: lib.tensor(IMAGE, pinned=True),
    "keyword b": lambda lib: lib.tensor(b=IMAGE, layout="HWC"),
    "keyword object": lambda lib: lib.tensor(object=IMAGE.__dlpack__(), layout="HWC"),
    "capsule": lambda lib: lib.tensor(torch.utils.dlpack.to_dlpack(torch.arange(6)), "X"),
    "capsule of NumPy": lambda lib: lib.tensor(np.arange(6).__dlpack__()),
    "capsule of bool": lambda lib: lib.tensor(torch.tensor([True, False]).__dlpack__()),
    "capsule of half": lambda lib: lib.tensor(torch.tensor(1.5).half().__dlpack__()),
    "tensor with layout": lambda lib: lib.tensor(lib.tensor(IMAGE, "HWC"), "CHW"),
    "text": lambda lib: lib.tensor("abc"),
    "bytes": lambda lib: lib.tensor(b"abc"),
    "bytearray": lambda lib: lib.tensor(bytearray(b"abc")),
    "memoryview": lambda lib: lib.tensor(memoryview(b"abcd")),
    "C number": lambda lib: lib.tensor(ctypes.c_int(3)),
    "C array": lambda lib: lib.tensor((ctypes.c_int * 3)(1, 2, 3)),
    "scalar": lambda lib: lib.tensor(np.float32(3)),
    "no dimensions": lambda lib: lib.tensor(np.array(3.5)),
    "no rows": lambda lib: lib.tensor(np.zeros((0, 3), np.int16)),
    "no elements": lambda lib: lib.tensor(np.zeros(0, np.int16), "X"),
    "objects": lambda lib: outcome_is_error(lambda: lib.tensor(np.array([{}]))),
    "texts": lambda lib: outcome_is_error(lambda: lib.tensor(np.array(["a"]))),
    "records": lambda lib: outcome_is_error(lambda: lib.tensor(np.zeros(2, "i4,f4"))),
    "dates": lambda lib: outcome_is_error(lambda: lib.tensor(np.zeros(2, "M8[s]"))),
    "long double": lambda lib: outcome_is_error(lambda: lib.tensor(np.zeros(2, np.longdouble))),
    "bfloat16": lambda lib: outcome_is_error(
        lambda: lib.tensor(torch.zeros(2, dtype=torch.bfloat16).__dlpack__())
    ),
    **{
        f"numbers {code}": lambda lib, code=code: lib.tensor(np.ones(2, code))
        for code in "BHILQbhilqefd?"
    },
}


def outcome_is_error(call: Callable[[], Any]) -> bool:
    """Check that both raise; for unknown types the reference raises different errors."""
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        call()
    return True


LIST_CONSTRUCTORS: dict[str, Call] = {
    "nothing": lambda lib: lib.list(),
    "empty": lambda lib: lib.list([]),
    "empty with layout": lambda lib: lib.list([], "HWC").layout(),
    "one": lambda lib: lib.list([lib.tensor(IMAGE)]),
    "with layout": lambda lib: lib.list([lib.tensor(IMAGE)] * 2, "HWC"),
    "arrays": lambda lib: lib.list([IMAGE, IMAGE]),
    "mixed": lambda lib: lib.list([lib.tensor(IMAGE, "HWC"), IMAGE]),
    "layouts": lambda lib: lib.list([lib.tensor(IMAGE, "HWC"), lib.tensor(IMAGE, "HWC")]),
    "layout of the first": lambda lib: lib.list([lib.tensor(IMAGE, "HWC"), lib.tensor(IMAGE)]),
    "layout of the second": lambda lib: lib.list([lib.tensor(IMAGE), lib.tensor(IMAGE, "HWC")]),
    "two layouts": lambda lib: lib.list([lib.tensor(IMAGE, "HWC"), lib.tensor(IMAGE, "CHW")]),
    "overruled": lambda lib: lib.list([lib.tensor(IMAGE, "HWC")] * 2, "CHW"),
    "not overruled": lambda lib: lib.list([lib.tensor(IMAGE, "HWC")], ""),
    "wrong layout": lambda lib: lib.list([lib.tensor(IMAGE)], "HW"),
    "two types": lambda lib: lib.list([lib.tensor(IMAGE), lib.tensor(IMAGE.astype("i2"))]),
    "two ranks": lambda lib: lib.list([lib.tensor(IMAGE), lib.tensor(MATRIX.astype("u1"))]),
    "no tensor": lambda lib: lib.list([None]),
    "ragged": lambda lib: lib.ragged("HWC"),
    "apart": lambda lib: lib.ragged(contiguous=False),
    "one apart": lambda lib: lib.list([lib.tensor(IMAGE)], "HWC", False),
    "numbers": lambda lib: lib.list([lib.tensor(np.float32(1)), lib.tensor(np.float32(2))]),
    "some without rows": lambda lib: lib.list([lib.tensor(IMAGE[:0]), lib.tensor(IMAGE)]),
    "tensor": lambda lib: lib.list(lib.tensor(IMAGE, "HWC")),
    "tensor with layout": lambda lib: lib.list(lib.tensor(IMAGE), "WC"),
    "array": lambda lib: lib.list(IMAGE),
    "array with layout": lambda lib: lib.list(IMAGE, "WC"),
    "array with long layout": lambda lib: lib.list(IMAGE, "HWC"),
    "array not pinned": lambda lib: lib.list(IMAGE, "WC", False),
    "scalar": lambda lib: lib.list(np.array(3)),
    "row": lambda lib: lib.list(np.zeros(3)),
    "no rows": lambda lib: lib.list(np.zeros((0, 3), np.int16), "X"),
    "bytes": lambda lib: lib.list(b"abc"),
    "capsule": lambda lib: lib.list(MATRIX.__dlpack__(), "X"),
    "list": lambda lib: lib.list(lib.list(IMAGE, "WC")),
    "list with layout": lambda lib: lib.list(lib.list(IMAGE, "WC"), "CW"),
    "list with empty layout": lambda lib: lib.list(lib.list(IMAGE, "WC"), ""),
    "list with long layout": lambda lib: lib.list(lib.list(IMAGE, "WC"), "ABC"),
    "keyword b": lambda lib: lib.list(b=IMAGE, layout="WC", is_pinned=False),
    "keyword object": lambda lib: lib.list(object=MATRIX.__dlpack__()),
    "keyword tl": lambda lib: lib.list(tl=lib.list(IMAGE), layout="WC"),
    "keyword list_of_tensors": lambda lib: lib.list(
        list_of_tensors=[lib.tensor(IMAGE)], layout="HWC", contiguous=False
    ),
    "dlpack list": lambda lib: lib.list.from_dlpack_list([torch.arange(3), torch.arange(4)], "X"),
    "dlpack list of NumPy": lambda lib: lib.list.from_dlpack_list([MATRIX, MATRIX[:1]]),
    "dlpack list of one": lambda lib: lib.list.from_dlpack_list(
        list_of_objects=[torch.arange(3)], layout=None, contiguous=False
    ),
    "dlpack list drops layouts": lambda lib: lib.list.from_dlpack_list(
        [lib.tensor(IMAGE, "HWC")]
    ).layout(),
    "empty dlpack list": lambda lib: lib.list.from_dlpack_list([]),
    "dlpack list of numbers": lambda lib: lib.list.from_dlpack_list([1, 2]),
    "dlpack list of capsules": lambda lib: lib.list.from_dlpack_list([MATRIX.__dlpack__()]),
    "dlpack list of two types": lambda lib: lib.list.from_dlpack_list([MATRIX, IMAGE[0, :2, :3]]),
    "dlpack list with layout": lambda lib: lib.list.from_dlpack_list([MATRIX], "X"),
    "broadcast": lambda lib: lib.list.broadcast(lib.tensor(IMAGE, "HWC"), 1),
    "broadcast array": lambda lib: lib.list.broadcast(IMAGE, 3).shape(),
    "broadcast to none": lambda lib: lib.list.broadcast(lib.tensor(IMAGE, "HWC"), 0),
    "negative broadcast": lambda lib: lib.list.broadcast(lib.tensor(IMAGE), -1),
}

ACCESS: dict[str, Call] = {
    "sample": lambda lib: lib.list(IMAGE, "WC")[0],
    "last": lambda lib: lib.list(IMAGE)[-1],
    "beyond": lambda lib: lib.list(IMAGE)[2],
    "before": lambda lib: lib.list(IMAGE)[-3],
    "of none": lambda lib: lib.list([])[0],
    "NumPy index": lambda lib: lib.list(IMAGE)[np.int64(1)],
    "bool index": lambda lib: lib.list(IMAGE)[True],
    "at": lambda lib: lib.list(IMAGE).at(1),
    "at beyond": lambda lib: lib.list(IMAGE).at(2),
    "at 1.5": lambda lib: lib.list(IMAGE).at(1.5),
    "length": lambda lib: (len(lib.list(IMAGE)), len(lib.list([])), bool(lib.list([]))),
    "iteration": lambda lib: list(lib.list(IMAGE)),
    "reversed": lambda lib: list(reversed(lib.list(IMAGE))),
    "assignment": lambda lib: operator.setitem(lib.list(IMAGE), 0, lib.tensor(IMAGE)),
    "as_array": lambda lib: lib.list(IMAGE).as_array(),
    "as_array of none": lambda lib: (
        lib.list([]).as_array(),
        lib.list(np.zeros((0, 3), np.int16)).as_array(),
    ),
    "as_array of ragged": lambda lib: lib.ragged().as_array(),
    "as_tensor": lambda lib: lib.list(IMAGE).as_tensor(),
    "as_tensor with layout": lambda lib: lib.list(IMAGE, "WC").as_tensor(),
    "as_tensor of numbers": lambda lib: lib.list(np.zeros(3)).as_tensor(),
    "as_tensor of ragged": lambda lib: lib.ragged().as_tensor(),
    "array of all": lambda lib: np.array(lib.list(MATRIX)),
    "as_cpu": lambda lib: (
        [value.as_cpu() is value for value in (lib.list(IMAGE), lib.tensor(1.0))]
        if lib.tensor is dali_core.tensors.TensorCPU
        else [True, True]
    ),
    "no layout": lambda lib: lib.list(IMAGE).as_reshaped_tensor([2, 12]),
    **{
        f"reshaped {shape}": lambda lib, shape=shape: lib.list(IMAGE, "WC").as_reshaped_tensor(
            shape
        )
        for shape in ([4, 6], (24,), [2, 3, 4], [3, 2, 4], [], [5], [-1], [-1, -24], [4.0, 6], 24)
    },
    "reshaped by an array": lambda lib: lib.list(IMAGE).as_reshaped_tensor(np.array([4, 6])),
    "reshaped ragged": lambda lib: lib.ragged().as_reshaped_tensor([36]),
    "reshaped none": lambda lib: lib.list(np.zeros((0, 3))).as_reshaped_tensor([0, 7]),
    "address": lambda lib: [
        lib.tensor(IMAGE).data_ptr() == lib.list(IMAGE).data_ptr() == IMAGE.ctypes.data,
        type(lib.tensor(IMAGE).data_ptr()) is int,
        lib.list([]).data_ptr(),
    ],
    "description": lambda lib: (
        lib.tensor(IMAGE).source_info(),
        [lib.tensor(IMAGE, "HWC").get_property(name) for name in ("layout", "source_info", "foo")],
        lib.tensor(IMAGE).get_property("layout"),
    ),
    "wrong property": lambda lib: lib.tensor(IMAGE).get_property(3),
    "truth": lambda lib: [bool(lib.tensor(value)) for value in (IMAGE, np.zeros(0), np.array(0))],
    "identity": lambda lib: (
        lib.tensor(IMAGE) == lib.tensor(IMAGE),
        lib.list(IMAGE) == lib.list(IMAGE),
        isinstance(hash(lib.tensor(IMAGE)), int),
    ),
    "attributes": lambda lib: [
        hasattr(lib.tensor(IMAGE), name) for name in ("foo", "__array_interface__", "__dlpack__")
    ],
    "interface": lambda lib: [
        lib.tensor(value).__array_interface__[name]
        for value in (IMAGE, np.array(3), np.zeros((0, 2)))
        for name in ("shape", "version", "strides")
    ],
    "buffer": lambda lib: [
        (view.shape, view.strides, view.ndim, view.nbytes, view.readonly)
        for view in (memoryview(lib.tensor(value)) for value in (IMAGE, np.array(3.5), MATRIX))
    ],
    "bytes of": lambda lib: (bytes(lib.tensor(IMAGE)), bytes(lib.tensor(np.zeros(0)))),
    "array of": lambda lib: [
        np.asarray(lib.tensor(value))
        for value in (IMAGE, np.array(3.5), np.zeros((0, 3)), np.array([True]), np.float16([1.5]))
    ],
    "dlpack": lambda lib: [
        np.from_dlpack(lib.tensor(value))
        for value in (IMAGE, np.array(3.5), np.zeros((0, 3)), np.array([True]), np.float16([1.5]))
    ],
    "dlpack device": lambda lib: (
        int(lib.tensor(IMAGE).__dlpack_device__()[0]),
        lib.tensor(IMAGE).__dlpack_device__()[1],
    ),
    "dlpack arguments": lambda lib: [
        "dltensor" in repr(lib.tensor(IMAGE).__dlpack__(**arguments))
        for arguments in (
            {"stream": None},
            {"stream": 1},
            {"max_version": (0, 8)},
            {"max_version": (1, 1)},
            {"copy": True},
            {"copy": False},
            {"dl_device": lib.tensor(IMAGE).__dlpack_device__()},
        )
    ],
    "dlpack positional": lambda lib: "dltensor" in repr(lib.tensor(IMAGE).__dlpack__(None)),
    "wrong dlpack version": lambda lib: lib.tensor(IMAGE).__dlpack__(max_version=3),
}

TEXT: dict[str, Call] = {
    "tensor": lambda lib: lib.tensor(IMAGE),
    "tensor with layout": lambda lib: lib.tensor(MATRIX, "HW"),
    "number": lambda lib: lib.tensor(np.array(3.0)),
    "bool": lambda lib: lib.tensor(np.array([True, False])),
    "one bool": lambda lib: lib.tensor(np.array(True)),
    "half": lambda lib: lib.tensor(np.float16([1.5, 3])),
    "no rows": lambda lib: lib.tensor(np.zeros((0, 3))),
    "large": lambda lib: lib.tensor(np.zeros((300, 300))),
    "long": lambda lib: lib.tensor(np.arange(100)),
    "very long": lambda lib: lib.tensor(np.arange(1001)),
    "many dimensions": lambda lib: lib.tensor(IMAGE.reshape(1, 2, 3, 4)),
    "list": lambda lib: lib.list(MATRIX, "X"),
    "empty list": lambda lib: lib.list([]),
    "ragged list": lambda lib: lib.ragged("HWC"),
    "numbers in a list": lambda lib: lib.list(np.arange(30)),
    "many numbers": lambda lib: lib.list(np.arange(1001)),
    "many samples": lambda lib: lib.list(np.zeros((20, 10, 10))),
    "five samples": lambda lib: lib.list(np.zeros((5, 201))),
    "six samples": lambda lib: lib.list(np.zeros((6, 200))),
    "some empty": lambda lib: lib.list([lib.tensor(np.zeros((0, 2))), lib.tensor(np.ones((1, 2)))]),
    "large samples": lambda lib: lib.list(np.zeros((100, 100, 100))),
    "many shapes": lambda lib: lib.list([lib.tensor(np.zeros(size)) for size in range(16)]),
    "too many shapes": lambda lib: lib.list([lib.tensor(np.zeros(size)) for size in range(17)]),
    "halves": lambda lib: lib.list(np.float16([[1.5], [2]])),
}

CHANGES: dict[str, tuple[Call, Callable[[Any], Any]]] = {
    "layout": (lambda lib: lib.tensor(IMAGE), lambda tensor: tensor.set_layout("HWC")),
    "wrong layout": (lambda lib: lib.tensor(IMAGE), lambda tensor: tensor.set_layout("HW")),
    "no layout": (lambda lib: lib.tensor(IMAGE, "HWC"), lambda tensor: tensor.set_layout(None)),
    "empty layout": (lambda lib: lib.tensor(IMAGE, "HWC"), lambda tensor: tensor.set_layout("")),
    "layout 3": (lambda lib: lib.tensor(IMAGE, "HWC"), lambda tensor: tensor.set_layout(3)),
    "list's layout": (lambda lib: lib.list(IMAGE), lambda batch: batch.set_layout("WC")),
    "list's wrong layout": (lambda lib: lib.list(IMAGE), lambda batch: batch.set_layout("WCX")),
    "list without layout": (lambda lib: lib.list(IMAGE, "WC"), lambda batch: batch.set_layout("")),
    "sample's layout": (lambda lib: lib.list(IMAGE, "WC"), lambda batch: batch[0].set_layout("AB")),
    **{
        f"squeeze {arguments}": (
            lambda lib: lib.tensor(LONG, "NHWCX"),
            lambda tensor, arguments=arguments: tensor.squeeze(*arguments),
        )
        for arguments in ((), (None,), (0,), (-1,), (1,), (5,), (-6,), (np.int64(4),), (True,))
    },
    "squeeze without layout": (lambda lib: lib.tensor(LONG), lambda tensor: tensor.squeeze(dim=0)),
    "squeeze all": (
        lambda lib: lib.tensor(np.zeros((1, 1)), "AB"),
        lambda tensor: tensor.squeeze(),
    ),
    "squeeze a number": (lambda lib: lib.tensor(np.array(3)), lambda tensor: tensor.squeeze()),
    "squeeze no rows": (
        lambda lib: lib.tensor(np.zeros((1, 0, 1)), "ABC"),
        lambda tensor: tensor.squeeze(),
    ),
    "squeeze a sample": (
        lambda lib: lib.list(IMAGE.reshape(2, 1, 12), "AB"),
        lambda batch: batch[0].squeeze(),
    ),
    "reset": (lambda lib: lib.list(IMAGE, "WC"), lambda batch: batch.reset()),
    "reset twice": (lambda lib: lib.list(IMAGE), lambda batch: (batch.reset(), batch.reset())),
}


@pytest.mark.parametrize("call", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
def test_making_tensors(call: Call) -> None:
    check(call)


@pytest.mark.parametrize("call", LIST_CONSTRUCTORS.values(), ids=LIST_CONSTRUCTORS)
def test_making_lists(call: Call) -> None:
    theirs, ours = (outcome(call, library) for library in LIBRARIES)
    if isinstance(ours, tuple) and not theirs[5]:
        # Here, separate samples are dense if they have the same shape.
        assert ours[5] == (len(set(ours[2])) == 1)
        ours, theirs = ours[:5] + ours[6:], theirs[:5] + theirs[6:]
    assert ours == theirs


@pytest.mark.parametrize("call", ACCESS.values(), ids=ACCESS)
def test_reading_properties(call: Call) -> None:
    check(call)


@pytest.mark.parametrize("call", TEXT.values(), ids=TEXT)
def test_texts(call: Call) -> None:
    check(lambda library: repr(call(library)))
    check(lambda library: str(call(library)))


@pytest.mark.parametrize(("make", "change"), CHANGES.values(), ids=CHANGES)
def test_changing_shapes_layouts_and_types(make: Call, change: Callable[[Any], Any]) -> None:
    check(after(make, change))


@pytest.mark.parametrize("of_list", [False, True])
@pytest.mark.parametrize(
    "name", ["INT32", "UINT32", "FLOAT", "INT16", "FLOAT16", "BOOL", "INT64", "NO_TYPE", "STRING"]
)
def test_reinterpreting(name: str, of_list: bool) -> None:
    check(
        after(
            lambda library: (library.list if of_list else library.tensor)(MATRIX),
            lambda value: value.reinterpret(
                getattr(dali_core.types if is_ours(value) else reference_types, name)
            ),
        )
    )


@pytest.mark.parametrize("wrong", [0, "INT32", np.int32, None])
def test_reinterpreting_needs_a_type(wrong: Any) -> None:
    check(lambda library: library.tensor(MATRIX).reinterpret(wrong))
    check(lambda library: library.list(MATRIX).reinterpret(new_type=wrong))


def is_ours(value: Any) -> bool:
    return type(value).__module__.startswith("dali_core")


def test_copying_out() -> None:
    def copy(library: Library, value: Any, by_name: bool) -> Any:
        target = np.full(40, 7, np.uint8)
        address = ctypes.c_void_p(target.ctypes.data)
        value.copy_to_external(ptr=address) if by_name else value.copy_to_external(address)
        return target

    check(lambda library: copy(library, library.tensor(IMAGE), True))
    check(lambda library: copy(library, library.tensor(np.zeros((2, 0))), False))
    check(lambda library: copy(library, library.list(IMAGE), False))
    check(lambda library: copy(library, library.list(IMAGE), True))
    check(lambda library: copy(library, library.ragged(), False))
    check(lambda library: copy(library, library.ragged(contiguous=False), False))


def copied(tensor: Any) -> Any:
    """Return an array as received by a consumer that requests a copy."""
    return torch.utils.dlpack.from_dlpack(tensor.__dlpack__(copy=True)).numpy()


def test_shared_memory() -> None:
    def shared(make: Callable[[Library, Any], Any]) -> None:
        def call(library: Library) -> bool:
            data = IMAGE.copy()
            value = make(library, data)
            data[:] = 77
            first = value[0] if isinstance(value, library.list) else value
            return bool(np.array(first).ravel()[0] == 77)

        check(call)

    shared(lambda library, data: library.tensor(data))
    shared(lambda library, data: library.tensor(torch.from_numpy(data).__dlpack__()))
    shared(lambda library, data: library.list(data))
    shared(lambda library, data: library.list(library.list(data)))
    shared(lambda library, data: library.list([library.tensor(data)]))
    shared(lambda library, data: library.list([library.tensor(data)] * 2))
    shared(lambda library, data: library.list([library.tensor(data)] * 2, contiguous=False))
    shared(lambda library, data: library.list([data, data], "HWC", False))
    shared(lambda library, data: library.list.from_dlpack_list([torch.from_numpy(data)]))
    shared(lambda library, data: library.list.broadcast(library.tensor(data), 2))
    shared(lambda library, data: library.list(data).as_tensor())
    shared(lambda library, data: library.list(data).as_reshaped_tensor([24]))
    shared(lambda library, data: torch.from_dlpack(library.tensor(data)).numpy())
    shared(lambda library, data: copied(library.tensor(data)))
    shared(lambda library, data: np.asarray(library.tensor(data)))
