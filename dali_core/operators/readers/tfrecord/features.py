"""Features that `fn.readers.tfrecord` reads of a record, with a type and a shape."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dali_core._texts import is_system_text
from dali_core.errors import ArgumentTypeError, ArgumentValueError

int64, string, float32 = 0, 1, 2

_TYPES = {int64: "int64", string: "string", float32: "float32"}
_MAX_DIMS = 8


@dataclass(frozen=True)
class Feature:
    """A feature that is read: made by `FixedLenFeature` and the like.

    Attributes
    ----------
    kind : str
        ``"fixed"``, ``"var"`` or ``"sequence"``.
    shape : tuple of int
        Shape of the value; of ``"var"`` without the first extent, of ``"sequence"`` that of each
        step.
    dtype : int
        `int64`, `string` or `float32`.
    default : int, float, bytes or None
        All elements of the value where the feature is missing; None makes that an error.
    """

    kind: str
    shape: tuple[int, ...]
    dtype: int
    default: int | float | bytes | None = None


def FixedLenFeature(  # noqa: N802
    shape: Sequence[int], dtype: int, default_value: Any = None
) -> Feature:
    """Describe a feature that has the same shape in all records.

    Parameters
    ----------
    shape : sequence of int
        Shape of the value; ``[]`` is a scalar. Strings must have ``[]``: their bytes are returned.
    dtype : int
        `int64`, `string` or `float32`.
    default_value : int, float, str or bytes, optional
        Where the feature is missing, all elements are this value, or the bytes of it. Without it,
        such a record is a bad sample.
    """
    return _feature("FixedLenFeature", "fixed", shape, dtype, default_value)


def VarLenFeature(*arguments: Any) -> Feature:  # noqa: N802
    """Describe a feature whose number of values varies, by ``[shape,] dtype[, default_value]``.

    The value has the shape ``(n, *shape)``. Where the feature is missing, n is 0; the
    default is accepted for compatibility.
    """
    where = "VarLenFeature"
    given = list(arguments)
    shape: Any = given.pop(0) if given and isinstance(given[0], (list, tuple)) else ()
    if not 1 <= len(given) <= 2:
        raise ArgumentTypeError(
            f"{where}: must be given a type and a default, after a partial shape if there is one "
            f"(got {len(arguments)} values)."
        )
    return _feature(where, "var", shape, *given)


def FixedLenSequenceFeature(shape: Sequence[int], dtype: int) -> Feature:  # noqa: N802
    """Describe a list of features in a SequenceExample: the steps have the same shape.

    The value has the shape ``(steps, *shape)``. NVIDIA DALI does not have this.

    Parameters
    ----------
    shape : sequence of int
        Shape of a step.
    dtype : int
        `int64` or `float32`.
    """
    where = "FixedLenSequenceFeature"
    feature = _feature(where, "sequence", shape, dtype)
    if dtype == string:
        raise ArgumentValueError(
            f"{where}: dtype must be int64 or float32 (got string). Strings of several lengths are "
            "no tensor."
        )
    return feature


def to_plain(features: Mapping[str, Feature]) -> dict[str, list[Any]]:
    """Return features as plain data, which documents can hold."""
    return {
        name: [feature.kind, list(feature.shape), feature.dtype, feature.default]
        for name, feature in features.items()
    }


def checked_features(features: Any, name: str) -> dict[str, Feature]:
    """Return features of an argument, which may be plain data of a document.

    Raises
    ------
    ArgumentTypeError
        If it is no dict of features by names.
    """
    if not isinstance(features, Mapping):
        raise ArgumentTypeError(
            f"{name} must be a dict of names and features (got a {type(features).__name__})."
        )
    checked = {}
    for key, value in features.items():
        feature = value if isinstance(value, Feature) else _from_plain(value)
        is_right = feature is not None and (feature.kind == "sequence") == (name != "features")
        is_name = isinstance(key, str) and is_system_text(key)
        if not is_name or feature is None or not is_right:
            made_by = "FixedLenFeature or VarLenFeature"
            raise ArgumentTypeError(
                f"{name} must be a dict of names and results of tfrecord."
                f"{made_by if name == 'features' else 'FixedLenSequenceFeature'} (got {key!r}: "
                f"{value!r})."
            )
        checked[key] = feature
    return checked


def _from_plain(value: Any) -> Feature | None:
    if not isinstance(value, (list, tuple)) or len(value) != 4:
        return None
    kind, *rest = value
    if kind not in ("fixed", "var", "sequence"):
        return None
    return _feature("features", kind, *rest)


def _feature(where: str, kind: str, shape: Any, dtype: Any, default: Any = None) -> Feature:
    if not isinstance(dtype, numbers.Integral) or int(dtype) not in _TYPES:
        raise ArgumentValueError(
            f"{where}: dtype must be tfrecord.int64, tfrecord.string or tfrecord.float32 (got "
            f"{dtype!r})."
        )
    dtype = int(dtype)
    if isinstance(shape, str) or not isinstance(shape, Sequence):
        raise ArgumentTypeError(f"{where}: shape must be a list of integers (got {shape!r}).")
    extents = []
    for extent in shape:
        is_extent = isinstance(extent, numbers.Integral) and not isinstance(extent, bool)
        if not is_extent or not 0 <= extent < 2**31:
            raise ArgumentValueError(
                f"{where}: shape must consist of integers from 0 on (got {shape!r})."
            )
        extents.append(int(extent))
    if len(extents) >= _MAX_DIMS:
        raise ArgumentValueError(
            f"{where}: shape must have less than {_MAX_DIMS} extents (got {len(extents)})."
        )
    if dtype == string and (extents or kind == "var"):
        raise ArgumentValueError(
            f"{where}: features of type string must be FixedLenFeature with shape [] (got "
            f"{'a VarLenFeature' if kind == 'var' else shape!r}). Strings of several lengths are "
            "no tensor."
        )
    return Feature(kind, tuple(extents), dtype, _default(where, dtype, default))


def _default(where: str, dtype: int, value: Any) -> int | float | bytes | None:
    if value is None:
        return None
    is_bool = isinstance(value, bool)
    if dtype == string and isinstance(value, (str, bytes)):
        try:
            return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        except UnicodeEncodeError as error:
            raise ArgumentValueError(
                f"{where}: default_value must be text without lone surrogates (got {value!r}). "
                "Pass bytes."
            ) from error
    if dtype == float32 and isinstance(value, numbers.Real) and not is_bool:
        return float(value)
    is_integer = isinstance(value, numbers.Integral) and not is_bool
    if dtype == int64 and is_integer and -(2**63) <= value < 2**63:
        return int(value)
    raise ArgumentTypeError(
        f"{where}: default_value must be of type {_TYPES[dtype]} (got {value!r}). Pass None for "
        "none."
    )
