"""Tables of paths and labels, in CSV and Parquet files."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError

_LARGEST_EXACT = 2**24
"""Integers that floats of 32 bits have exactly."""


@dataclass(frozen=True)
class Table:
    """Paths, and numbers for each of them.

    Attributes
    ----------
    paths : list of str
        The paths.
    columns : list of str
        Names of the columns.
    rows : array of int32 or float32, shape (paths, columns)
        The columns: numbers as they are, texts as class indices.
    is_integer : list of bool
        Which columns have integers, or texts.
    classes : dict of str to list of str
        For each column of texts the sorted texts: the index of each is its number.
    """

    paths: list[str]
    columns: list[str]
    rows: NDArray[Any]
    is_integer: list[bool]
    classes: dict[str, list[str]] = field(default_factory=dict)


def read_table(
    table: str | os.PathLike[str], *, path: str = "path", columns: Sequence[str] | None = None
) -> Table:
    """Read a table that has a path and numbers or texts on each line.

    Parameters
    ----------
    table : path
        A Parquet file, if the extension is ``.parquet``, else a CSV file with a header.
    path : str
        Name of the column of paths.
    columns : sequence of str, optional
        Names of the other columns; by default all.

    Returns
    -------
    Table
        Columns of texts are class indices.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a column does not exist, lacks values, or is neither numbers nor texts.
    OSError
        If the file cannot be read.
    MissingModuleError
        If a Parquet file is given and PyArrow is missing.
    """
    name = os.fspath(table)
    read = _read_parquet if name.lower().endswith(".parquet") else _read_csv
    found = read(name, path, None if columns is None else list(columns))
    paths = found.pop(path)
    if not paths:
        raise ArgumentValueError(f"{name!r}: must have at least one line (got none).")
    if not all(isinstance(one, str) and one and "\0" not in one for one in paths):
        number, wrong = next(
            (number, one)
            for number, one in enumerate(paths, 1)
            if not (isinstance(one, str) and one) or "\0" in one
        )
        raise ArgumentValueError(
            f"{name!r}: column {path!r} must have a path in every line (line {number} below the "
            f"header has {wrong!r:.100})."
        )
    classes: dict[str, list[str]] = {}
    numbers = []
    for column, values in found.items():
        array, texts = _numbers(name, column, values)
        numbers.append(array)
        if texts is not None:
            classes[column] = texts
    if not numbers:
        raise ArgumentValueError(f"{name!r}: must have a column besides {path!r} (got none).")
    is_float = any(array.dtype.kind == "f" for array in numbers)
    for column, array in zip(found, numbers, strict=True):
        if is_float and array.dtype.kind != "f" and np.abs(array).max() > _LARGEST_EXACT:
            raise ArgumentValueError(
                f"{name!r}: column {column!r} has integers beyond 2**24, which would be rounded "
                "beside a column of floats. Read it by a call of its own."
            )
    rows = np.stack(numbers, axis=1).astype(np.float32 if is_float else np.int32)
    return Table(paths, list(found), rows, [array.dtype.kind != "f" for array in numbers], classes)


def _read_csv(name: str, path: str, columns: list[str] | None) -> dict[str, list[Any]]:
    with open(name, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            lines = [line for line in csv.reader(file) if line]
        except csv.Error as error:
            raise ArgumentValueError(f"{name!r}: must be a CSV file ({error}).") from error
    header = lines[0] if lines else []
    wanted = _wanted(name, header, path, columns)
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(header):
            raise ArgumentValueError(
                f"{name!r}: line {number} below the header must have {len(header)} fields (got "
                f"{len(line)}: {line!r:.100})."
            )
    places = {column: header.index(column) for column in wanted}
    return {column: [line[place] for line in lines[1:]] for column, place in places.items()}


def _read_parquet(name: str, path: str, columns: list[str] | None) -> dict[str, list[Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingModuleError(
            f"read_table: PyArrow must be installed to read {name!r} (got: {error}). Install the "
            'extra "arrow".'
        ) from error
    try:
        wanted = _wanted(name, parquet.read_schema(name).names, path, columns)
        found = parquet.read_table(name, columns=wanted)
        return {column: found[column].to_pylist() for column in wanted}
    except ArrowException as error:
        raise ArgumentValueError(f"{name!r}: must be a Parquet file ({error}).") from error


def _wanted(name: str, header: Sequence[str], path: str, columns: list[str] | None) -> list[str]:
    if path in (columns or ()):
        raise ArgumentValueError(f"columns: must not have the column of paths, {path!r}.")
    wanted = [path, *([one for one in header if one != path] if columns is None else columns)]
    for one in wanted:
        if one not in header:
            raise ArgumentValueError(
                f"{name!r}: must have a column {one!r} (has {', '.join(map(repr, header))[:500]}). "
                "Pass path= and columns=."
            )
    return wanted


def _numbers(name: str, column: str, values: list[Any]) -> tuple[NDArray[Any], list[str] | None]:
    """Return a column as numbers, and the texts that they stand for, if it is one of texts."""
    lacking = [i for i, value in enumerate(values, 1) if value is None or value == ""]
    if lacking:
        raise ArgumentValueError(
            f"{name!r}: column {column!r} must have a value in every line (line {lacking[0]} below "
            "the header has none). Fill it, or leave out the column."
        )
    if all(isinstance(value, str) for value in values):
        for kind in (int, float):
            try:
                return _limited(name, column, np.array([kind(value) for value in values])), None
            except (ValueError, OverflowError) as error:
                if isinstance(error, ArgumentValueError):
                    raise
        texts = sorted(set(values))
        index = {text: number for number, text in enumerate(texts)}
        return np.array([index[value] for value in values], np.int64), texts
    array = np.array(values) if all(isinstance(one, (int, float)) for one in values) else None
    if array is None or array.dtype.kind not in "iufb":
        raise ArgumentTypeError(
            f"{name!r}: column {column!r} must be numbers or texts (got "
            f"{', '.join(sorted({type(value).__name__ for value in values}))})."
        )
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    return _limited(name, column, array), None


def _limited(name: str, column: str, array: NDArray[Any]) -> NDArray[Any]:
    limit = 2**31 if array.dtype.kind in "iu" else float(np.finfo(np.float32).max)
    if array.dtype == object or not (np.abs(array.astype(np.float64)) < limit).all():
        raise ArgumentValueError(
            f"{name!r}: column {column!r} must have finite numbers of 32 bits (got others)."
        )
    return array
