"""Lists the records of TFRecord files, and describes their features to the native code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from dali_core._storage import Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.record_listing import RecordListing, list_records
from dali_core.operators.readers.tfrecord.features import Feature, checked_features, to_plain
from dali_core.operators.readers.tfrecord.record_format import FORMAT, read_index

FEATURES = ("features", "sequence_features")
_KINDS = ("fixed", "var", "sequence")


def bind_features(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Make plain data of the features of a call, so that documents can hold them."""
    plain = {
        name: to_plain(checked_features(keywords[name], name))
        for name in FEATURES
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
    given = [arguments.get(name) for name in FEATURES]
    return [name for features in given if isinstance(features, Mapping) for name in features]


def open_tfrecord(arguments: dict[str, Any], storage: Storage) -> RecordListing:
    """List what the arguments of `fn.readers.tfrecord` ask for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other, or there are no records.
    """
    features: dict[str, Feature] = {}
    for name in FEATURES:
        # They may come from a document that was edited.
        features |= checked_features(arguments.get(name, {}), name)
    if len(features) != len(output_names(arguments)):
        raise ArgumentTypeError("features and sequence_features must have different names.")
    return list_records(
        arguments["path"],
        arguments.get("index_path"),
        FORMAT,
        read_index,
        storage,
        sequence_features=arguments.get("sequence_features") is not None,
        features=None,
        schema=_schema(features),
    )


def _schema(features: Mapping[str, Feature]) -> list[int]:
    """Return features as native code reads them: one record after the other, all of integers."""
    numbers: list[int] = []
    for name, feature in features.items():
        numbers += _text(os.fsencode(name))
        numbers += [_KINDS.index(feature.kind), feature.dtype]
        numbers += [len(feature.shape), *feature.shape]
        default = feature.default
        numbers.append(int(default is not None))
        if isinstance(default, bytes):
            numbers += _text(default)
        elif default is not None:
            # Floats are their bits.
            bits = np.array(default, np.float64).view(np.int64)
            numbers.append(int(bits) if isinstance(default, float) else default)
    return numbers


def _text(text: bytes) -> list[int]:
    return [len(text), *text]
