"""Makes arrays of the fields of JSON objects."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MOST_EXACT = 2**53  # integers that a float64 has exactly
_WORDS = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
_MOST_SHOWN = 20


class JsonField(NamedTuple):
    """A field, and what all samples must have there.

    Attributes
    ----------
    name : str
        As the user wrote it.
    path : tuple of str
        Names of the objects that it is in, and its own.
    dtype : numpy.dtype or None
        Type of the numbers; None for text.
    ndim : int
        Number of dimensions.
    """

    name: str
    path: tuple[str, ...]
    dtype: np.dtype[Any] | None
    ndim: int

    def array(self, document: dict[str, Any]) -> NDArray[Any]:
        """Return the field of an object.

        Raises
        ------
        ValueError
            If it is missing, or of another kind.
        """
        value = self._find(document)
        if isinstance(value, str):
            if self.dtype is not None:
                raise self._error(value)
            return np.frombuffer(_encoded(value, self.name), np.uint8)
        if self.dtype is None or isinstance(value, dict) or value is None:
            raise self._error(value)
        return _numbers(value, self, self.dtype)

    def _find(self, document: Any) -> Any:
        for depth, key in enumerate(self.path):
            if not isinstance(document, dict) or key not in document:
                name = ".".join(self.path[: depth + 1])
                raise ValueError(f"the field {name!r} must be there (it is missing).")
            document = document[key]
        return document

    def _error(self, value: Any) -> ValueError:
        wanted = "a text" if self.dtype is None else _wanted(self.ndim, self.dtype)
        return ValueError(
            f"the field {self.name!r} must be {wanted}, as in the first sample (got "
            f"{_WORDS.get(type(value), 'a number')})."
        )


def parse_object(line: bytes) -> dict[str, Any]:
    """Return the object in a line.

    Raises
    ------
    ValueError, RecursionError
        If there is none, or numbers in it are not finite.
    """
    document = _decode(decoded(line))
    if not isinstance(document, dict):
        raise ValueError(
            f"the line must be a JSON object (got {_WORDS.get(type(document), 'a number')})."
        )
    return document


def decoded(text: bytes) -> str:
    """Return a text.

    Raises
    ------
    ValueError
        If it is not in UTF-8.
    """
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"the text must be in UTF-8 (got the byte 0x{text[error.start]:02x} at {error.start}: "
            f"{error.reason})."
        ) from error


def find_field(document: dict[str, Any], name: str, dtype: Any = None) -> JsonField | None:
    """Find out what a field has, from an object; None if it is not there, null or an empty list.

    Parameters
    ----------
    document : dict
        The object.
    name : str
        Name of the field; ``"a.b"`` is the field ``b`` of objects in the field ``a``.
    dtype : dtype, optional
        Type of its numbers; by default int64, float64 or bool, as there.

    Raises
    ------
    ValueError
        If no array can be made of it.
    """
    path = (name,) if name in document else tuple(name.split("."))
    value: Any = document
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    # The type of the numbers in an empty list is not known.
    return None if value is None or value == [] else _kind_of(name, path, value, dtype)


def shown_names(document: dict[str, Any]) -> str:
    """Return the names of an object's fields, for messages."""
    return ", ".join(repr(name)[:100] for name in list(document)[:_MOST_SHOWN]) or "none"


def _kind_of(name: str, path: tuple[str, ...], value: Any, dtype: Any) -> JsonField:
    if isinstance(value, str):
        if dtype not in (None, np.dtype(np.uint8)):
            raise ValueError(f"a text has the type UINT8 (got {dtype})")
        return JsonField(name, path, None, 1)
    array = np.asarray(value) if not isinstance(value, dict) else np.asarray("")
    if array.dtype.kind not in "biuf":
        raise ValueError("it must be a text, a number, or a list of numbers")
    default = {"b": np.bool_, "f": np.float64}.get(array.dtype.kind, np.int64)
    return JsonField(name, path, np.dtype(default if dtype is None else dtype), array.ndim)


def _numbers(value: Any, field: JsonField, dtype: np.dtype[Any]) -> NDArray[Any]:
    wanted = _wanted(field.ndim, dtype)
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"the field {field.name!r} must be {wanted} ({error}).") from error
    if array.size == 0 and isinstance(value, list):
        array = array.reshape((0,) * field.ndim).astype(dtype)
    if array.ndim != field.ndim:
        raise ValueError(
            f"the field {field.name!r} must be {wanted}, as in the first sample (got {array.ndim} "
            "dimensions)."
        )
    found = _converted(array, dtype)
    if found is None:
        shown = repr(value)
        raise ValueError(
            f"the field {field.name!r} must be {wanted} (got {shown[:60]}). Change dtypes or the "
            "value."
        )
    return found


def _converted(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return numbers in another type; None if it does not have their values."""
    kind = array.dtype.kind
    if kind not in "biuf" or (dtype.kind == "b") != (kind == "b"):
        return array.astype(dtype) if array.size == 0 else None
    if dtype.kind in "iu":
        if kind == "f" and not ((np.abs(array) <= _MOST_EXACT) & (array == np.floor(array))).all():
            return None
        limits = np.iinfo(dtype)
        if array.size and (int(array.min()) < limits.min or int(array.max()) > limits.max):
            return None
    with np.errstate(over="ignore"):
        found = array.astype(dtype)
    return found if dtype.kind != "f" or np.isfinite(found).all() else None


def _wanted(ndim: int, dtype: np.dtype[Any]) -> str:
    if dtype.kind == "b":
        return "a boolean" if ndim == 0 else "a list of booleans"
    numbers = "a number" if ndim == 0 else "a list of numbers" if ndim == 1 else "lists of numbers"
    return f"{numbers} of {dtype}"


def _encoded(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the field {name!r} must be a text that UTF-8 can have (got half of a surrogate pair "
            f"at character {error.start})."
        ) from error


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"numbers must be finite, as JSON has them (got {constant}).")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"the line must be JSON (got: {error.msg} at character {error.pos})."
        ) from error
    except RecursionError as error:
        raise ValueError("the line must be JSON that is less deeply nested.") from error
