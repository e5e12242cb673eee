"""Values as plain data: what JSON can hold, and back.

Numbers, strings, None and lists are stored as they are. Everything else is an object with one key,
which says what it is::

    {"float": "inf"}   {"enum": "DALIDataType.FLOAT"}   {"bytes": "AAE="}
    {"dict": {"cpu_size": 2, "gpu_size": 1}}
    {"array": {"dtype": "float32", "shape": [2], "data": "AACAPwAAAEA="}}

Bytes and the elements of arrays (little-endian, in C order) are in base64. Reading such data makes
values of these kinds only: no class, function or module is looked up by a name in it.
"""

from __future__ import annotations

import base64
import binascii
import enum
import math
from collections.abc import Callable, Mapping
from typing import Any

from dali_core import _types as types
from dali_core._messages import shown
from dali_core.errors import SerializationError

_ENUMS = {
    name: value
    for name, value in vars(types).items()
    if isinstance(value, type) and issubclass(value, enum.Enum) and not name.startswith("_")
}


def to_plain(value: Any, what: str) -> Any:
    """Turn a value into plain data.

    Parameters
    ----------
    value : object
        None, a number, a string, bytes, an enumeration of `dali_core.types`, an array, or a list,
        tuple or dict of these. Tuples become lists.
    what : str
        What the value is, for messages.

    Raises
    ------
    SerializationError
        If the value is of another kind, such as a function.
    """
    if isinstance(value, (list, tuple)):
        return [to_plain(entry, f"{what}, entry {i}") for i, entry in enumerate(value)]
    if isinstance(value, Mapping):
        return {
            "dict": {str(key): to_plain(entry, f"{what}, {key}") for key, entry in value.items()}
        }
    if _is_array(value):
        return _array_to_plain(value, what)
    if value is None or isinstance(value, (bool, str, int)):
        return value if value is None or isinstance(value, bool) else _base(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, enum.Enum) and type(value) in _ENUMS.values():
        return {"enum": f"{type(value).__name__}.{value.name}"}
    if isinstance(value, type):
        try:
            return to_plain(types.to_dali_type(value), what)
        except TypeError:
            pass  # a class that is no data type: said below, like everything else that is no data
    raise SerializationError(
        f"{what} must be plain data (got {shown(value)}, a {type(value).__name__}), since reading "
        "a document never runs code. Leave it out."
    )


def from_plain(data: Any, what: str) -> Any:
    """Turn plain data back into the value.

    Parameters
    ----------
    data : object
        What `to_plain` gave, or anything else that JSON can hold.
    what : str
        What the value is, for messages.

    Raises
    ------
    SerializationError
        If it is nothing that `to_plain` gives.
    """
    if isinstance(data, list):
        return [from_plain(entry, f"{what}, entry {i}") for i, entry in enumerate(data)]
    if not isinstance(data, dict):
        return data
    kind, content = next(iter(data.items())) if len(data) == 1 else ("", None)
    if kind == "dict" and isinstance(content, dict):
        return {key: from_plain(entry, f"{what}, {key}") for key, entry in content.items()}
    reader = _READERS.get(kind)
    if reader is None:
        raise SerializationError(
            f"{what} must be a value, a list, or an object with one of the keys "
            f"{', '.join(map(repr, ('dict', *_READERS)))} (got the keys {sorted(data)})."
        )
    try:
        return reader(content)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise SerializationError(
            f"{what} must be a valid {kind} (got {shown(content, 60)}: {error})."
        ) from error


def _base(value: str | int) -> str | int:
    """Return a value of a subclass, such as `types.TensorLayout`, as a plain one."""
    return str(value) if isinstance(value, str) else int(value)


def _is_array(value: Any) -> bool:
    import numpy

    return isinstance(value, (numpy.ndarray, numpy.generic))


def _array_to_plain(value: Any, what: str) -> Any:
    import numpy

    array = numpy.asarray(value)
    try:
        types.to_dali_type(array.dtype)
    except TypeError as error:
        raise SerializationError(f"{what} must be an array of numbers ({error})") from error
    little = array.astype(array.dtype.newbyteorder("<"))
    return {
        "array": {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "data": base64.b64encode(little.tobytes()).decode("ascii"),
        }
    }


def _array_from_plain(content: Any) -> Any:
    import numpy

    dtype = numpy.dtype(types.to_numpy_type(types.to_dali_type(_text(content["dtype"]))))
    shape = tuple(content["shape"])
    if set(content) != {"dtype", "shape", "data"} or not all(
        type(extent) is int and extent >= 0 for extent in shape
    ):
        raise ValueError("an array has a dtype, a shape and data")
    data = _bytes_from_plain(content["data"])
    if math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"{len(data)} bytes of data do not make this shape")
    if dtype.kind == "b":
        array = numpy.frombuffer(data, numpy.uint8) != 0
    else:
        array = numpy.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)
    array = array.reshape(shape)
    return array if shape else array[()]


def _bytes_from_plain(content: Any) -> bytes:
    return base64.b64decode(_text(content), validate=True)


def _float_from_plain(content: Any) -> float:
    if content not in ("inf", "-inf", "nan"):
        raise ValueError("finite numbers are stored as they are")
    return float(content)


def _enum_from_plain(content: Any) -> enum.Enum:
    kind, _, member = _text(content).partition(".")
    found: enum.Enum = _ENUMS[kind][member]
    return found


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise TypeError("a string is expected")
    return content


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": _float_from_plain,
    "enum": _enum_from_plain,
    "bytes": _bytes_from_plain,
    "array": _array_from_plain,
}
