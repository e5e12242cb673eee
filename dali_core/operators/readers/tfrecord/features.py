"""Features that `fn.readers.tfrecord` reads of a record, with a type and a shape."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dali_core._texts import is_system_text
from dali_core.errors import ArgumentTypeError, ArgumentValueError

int64, string, float32 = 0, 1, 2

_TYPES = {int64: "int64", string: "string", float32: "float32"}
_KINDS = ("fixed", "var", "sequence")
_MAX_DIMS = 8

ARGUMENTS = ("features", "sequence_features")
"""Arguments with features."""

# The struct `FeatureRecord` of the native code.
_RECORD = np.dtype(
    [
        ("kind", np.int64),
        ("type", np.int64),
        ("ndim", np.int64),
        ("extents", np.int64, (_MAX_DIMS,)),
        ("has_default", np.int64),
        ("integer", np.int64),
        ("number", np.float64),
    ]
)


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

    def to_record(self) -> tuple[Any, ...]:
        """Return what `native_features` says of it."""
        extents = (*self.shape, *(0,) * (_MAX_DIMS - len(self.shape)))
        default = None if isinstance(self.default, bytes) else self.default
        return (
            _KINDS.index(self.kind),
            self.dtype,
            len(self.shape),
            extents,
            self.default is not None,
            default if isinstance(default, int) else 0,
            default if isinstance(default, float) else 0.0,
        )


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


def bind_features(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Make plain data of the features of a call, so that documents can hold them."""
    plain = {
        name: to_plain(checked_features(keywords[name], name))
        for name in ARGUMENTS
        if name in keywords
    }
    names = output_names(plain)
    if plain and not names:
        raise ArgumentValueError("features must have at least one feature (got none).")
    if len(set(names)) < len(names):
        raise ArgumentValueError(
            "features and sequence_features must have different names (got "
            f"{sorted({name for name in names if names.count(name) > 1})} twice)."
        )
    return inputs, {**keywords, **plain}


def output_names(arguments: Mapping[str, Any]) -> list[str]:
    """Return the names of the outputs of a call, in their order."""
    given = [arguments.get(name) for name in ARGUMENTS]
    return [name for features in given if isinstance(features, Mapping) for name in features]


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


def native_features(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the features of a call, which may come from a document, as native arguments.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If they are not as `bind_features` makes them.
    """
    features: dict[str, Feature] = {}
    for name in ARGUMENTS:
        features |= checked_features(arguments.get(name, {}), name)
    if len(features) != len(output_names(arguments)):
        raise ArgumentTypeError("features and sequence_features must have different names.")
    defaults = [feature.default for feature in features.values()]
    records = np.array([feature.to_record() for feature in features.values()], _RECORD)
    return {
        "sequence_features": arguments.get("sequence_features") is not None,
        "features": list(features),
        "feature_records": records.view(np.int64).tolist(),
        "text_defaults": [
            value.decode(errors="surrogateescape") if isinstance(value, bytes) else ""
            for value in defaults
        ],
    }


def _from_plain(value: Any) -> Feature | None:
    if not isinstance(value, (list, tuple)) or len(value) != 4:
        return None
    kind, *rest = value
    if kind not in _KINDS:
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
