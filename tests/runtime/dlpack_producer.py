"""A library that exports memory by DLPack in every allowed way, and counts deleter calls.

It is written against DLPack's C header, with `ctypes`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Producer:
    """Exports parts of an array.

    Parameters
    ----------
    array : numpy.ndarray
        The array to export; with any strides.
    versioned : bool
        Whether to make the newer kind of capsule.
    flags, version, device, device_id, address, bits, lanes, code : int
        Values to state instead of the true ones.
    with_strides : bool
        Whether to state strides, which are optional for dense memory.
    shape : sequence of int
        Shape to state instead of the true one; there are no strides then.
    """

    def __init__(
        self,
        array: numpy.ndarray[Any, Any],
        *,
        versioned: bool = False,
        flags: int = 0,
        version: tuple[int, int] = (1, 0),
        device: int = 1,
        device_id: int = 0,
        address: int | None = None,
        code: int | None = None,
        bits: int | None = None,
        lanes: int = 1,
        with_strides: bool = True,
        byte_offset: int = 0,
        shape: Sequence[int] | None = None,
    ) -> None:
        self.num_returned = 0
        self.num_calls = 0
        self.array = array
        self.versioned = versioned
        steps = [stride // array.itemsize for stride in array.strides]
        self._shape = _integers(array.shape if shape is None else shape)
        self._strides = _integers(steps)
        tensor = _Tensor(
            (array.ctypes.data if address is None else address) - byte_offset,
            _Device(device, device_id),
            array.ndim if shape is None else len(shape),
            _DataType(
                _CODES[array.dtype.kind] if code is None else code,
                bits or 8 * array.itemsize,
                lanes,
            ),
            self._shape,
            self._strides if with_strides and shape is None else None,
            byte_offset,
        )
        self._deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._take_back)
        address = ctypes.cast(self._deleter, ctypes.c_void_p).value
        self._managed: _Managed | _ManagedVersioned = (
            _ManagedVersioned(*version, None, address, flags, tensor)
            if versioned
            else _Managed(tensor, None, address)
        )

    def _take_back(self, managed: int) -> None:
        assert managed == ctypes.addressof(self._managed)
        self.num_returned += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self._managed.tensor.device.type, self._managed.tensor.device.id)

    def __dlpack__(self, **_: Any) -> Any:
        self.num_calls += 1
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return _new_capsule(ctypes.addressof(self._managed), name, None)


class OldProducer(Producer):
    """Accepts no arguments, as before DLPack 1.0."""

    def __dlpack__(self) -> Any:  # type: ignore[override]
        return super().__dlpack__()


class Consumer:
    """Consumes a capsule of either version.

    Attributes
    ----------
    address, device : int, tuple of int
        Where the data are.
    shape, strides : tuple of int
        Of the tensor.
    flags : int or None
        Those of the newer kind of capsule.
    """

    def __init__(self, capsule: Any) -> None:
        name = _name_of_capsule(capsule)
        self._kind = _ManagedVersioned if name == b"dltensor_versioned" else _Managed
        self._managed = self._kind.from_address(_address_of_capsule(capsule, name))
        # The capsule keeps a reference to its name only.
        self._name = b"used_" + name
        _rename_capsule(capsule, self._name)
        tensor = self._managed.tensor
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.device = (tensor.device.type, tensor.device.id)
        self.shape = tuple(tensor.shape[: tensor.ndim])
        self.strides = tuple(tensor.strides[: tensor.ndim])
        self.flags = getattr(self._managed, "flags", None)

    def give_back(self) -> None:
        """Call the producer's deleter, without the GIL, as other libraries may."""
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._managed.deleter)(
            ctypes.addressof(self._managed)
        )


_name_of_capsule = ctypes.pythonapi.PyCapsule_GetName
_name_of_capsule.restype = ctypes.c_char_p
_name_of_capsule.argtypes = (ctypes.py_object,)
_address_of_capsule = ctypes.pythonapi.PyCapsule_GetPointer
_address_of_capsule.restype = ctypes.c_void_p
_address_of_capsule.argtypes = (ctypes.py_object, ctypes.c_char_p)
_rename_capsule = ctypes.pythonapi.PyCapsule_SetName
_rename_capsule.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _integers(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * max(len(values), 1))(*values)
