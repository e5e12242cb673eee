"""Labels of several numbers, or of floats: a row for each file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core.errors import ArgumentTypeError, ArgumentValueError


@dataclass(frozen=True)
class LabelRows:
    """The labels of all files.

    Attributes
    ----------
    values : array of int32 or float32, shape (files, numbers)
        A row for each file.
    """

    values: NDArray[Any]

    def arguments(self) -> dict[str, Any]:
        """Return the numbers as arguments of native code."""
        return {
            "label_values": self.values.astype(np.float64).reshape(-1).tolist(),
            "label_width": self.values.shape[1],
            "label_is_float": int(self.values.dtype == np.float32),
        }


def label_rows(labels: Any, num_files: int) -> LabelRows | Sequence[int]:
    """Return labels as rows, or as integers if there is one of these for each file.

    Parameters
    ----------
    labels : array of int or float, or sequence, shape (files,) or (files, numbers)
        The labels.
    num_files : int
        How many there must be.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If they are no numbers, or their shape is another one.
    """
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ArgumentValueError(
            f"labels: must have as many numbers for each file (got rows that differ: {error})."
        ) from error
    if array.dtype.kind == "b":
        array = array.astype(np.int32)
    is_empty = array.size == 0 and array.ndim == 1
    if array.dtype.kind not in "iuf" and not (array.dtype == object and array.ndim == 1):
        raise ArgumentTypeError(
            f"labels: must be numbers (got {array.dtype}). Pass integers or floats, one for each "
            "file or a row of them."
        )
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise ArgumentValueError(
            f"labels: must have shape (files,) or (files, numbers) (got {array.shape})."
        )
    if len(array) != num_files:
        raise ArgumentValueError(
            f"labels must have an entry for each of the {num_files} files (got {len(array)})."
        )
    if array.ndim == 1 and (is_empty or array.dtype.kind != "f"):
        return _integers(array.tolist())
    return LabelRows(_numbers(array.reshape(num_files, -1), "labels", "entry"))


def rows_of_table(text: bytes, where: str) -> tuple[list[str], LabelRows]:
    """Return paths and labels of a CSV text: on each line a path, and one number or more.

    A first line whose second field is no number is the header.

    Raises
    ------
    ArgumentValueError
        If a line is not so; it is named.
    """
    try:
        lines = list(csv.reader(io.StringIO(text.decode("utf-8-sig", "surrogateescape"), "")))
    except csv.Error as error:
        raise ArgumentValueError(f"{where}: must be a CSV file ({error}).") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    if numbered and len(numbered[0][1]) > 1 and not _is_number(numbered[0][1][1]):
        del numbered[0]
    return _rows(numbered, where)


def rows_of_lines(text: bytes, count: int, where: str) -> tuple[list[str], LabelRows]:
    """Return paths and labels of a text: on each line a path, and `count` numbers.

    Raises
    ------
    ArgumentValueError
        If a line is not so; it is named.
    """
    numbered = []
    for number, line in enumerate(text.decode("utf-8-sig", "surrogateescape").splitlines(), 1):
        if line.strip():
            # Paths may contain spaces.
            numbered.append((number, line.rstrip().rsplit(None, count)))
    for number, fields in numbered:
        if len(fields) != count + 1:
            raise ArgumentValueError(
                f"{where}, line {number}: must be a path and {count} numbers (got "
                f"{' '.join(fields)!r}). Fix the line, or num_labels."
            )
    return _rows(numbered, where)


def _rows(numbered: list[tuple[int, list[str]]], where: str) -> tuple[list[str], LabelRows]:
    rows = []
    for number, fields in numbered:
        is_row = len(fields) > 1 and all(map(_is_number, fields[1:])) and "\0" not in fields[0]
        if not is_row or len(fields) != len(numbered[0][1]):
            raise ArgumentValueError(
                f"{where}, line {number}: must be a path and "
                f"{max(len(numbered[0][1]) - 1, 1)} numbers, without NUL characters (got "
                f"{fields!r:.200}). Fix the line."
            )
        rows.append([_number(field) for field in fields[1:]])
    values = np.array(rows) if rows else np.empty((0, 1), np.int32)
    numbers = [number for number, _ in numbered]
    return [fields[0] for _, fields in numbered], LabelRows(
        _numbers(values, where, "line", numbers.__getitem__)
    )


def _numbers(
    values: NDArray[Any], where: str, word: str, number_of: Callable[[int], int] = int
) -> NDArray[Any]:
    """Return numbers in 32 bits."""
    if values.dtype.kind in "iu":
        wrong = (values < -(2**31)) | (values >= 2**31)
        kind, rule = "int32", "fit into 32 bits"
    else:
        with np.errstate(over="ignore"):
            wrong = ~np.isfinite(values.astype(np.float32))
        kind, rule = "float32", "be finite in 32 bits"
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        raise ArgumentValueError(
            f"{where}: {word} {number_of(row)} must {rule} (got {values[row, column]})."
        )
    return values.astype(kind)


def _integers(labels: list[Any]) -> list[int]:
    for number, label in enumerate(labels):
        if not isinstance(label, int):
            raise ArgumentTypeError(
                f"labels: must be numbers (got {label!r:.100} for entry {number})."
            )
    return labels


def _number(field: str) -> float:
    try:
        return int(field)
    except ValueError:
        return float(field)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return field.isascii() and "_" not in field
