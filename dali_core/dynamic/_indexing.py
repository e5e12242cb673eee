"""Indices of tensors: checked at once, and taken as views of their memory."""

from __future__ import annotations

import operator
from typing import Any

from dali_core._call.location import user_location
from dali_core._runtime.tensor import TensorCPU
from dali_core.dynamic._lazy import Lazy
from dali_core.errors import ArgumentTypeError, ArgumentValueError, TensorIndexError


def elements(own: TensorCPU, shape: tuple[int, ...], layout: str, entries: Any) -> TensorCPU:
    """Index a tensor; memory is shared where the result is dense.

    Parameters
    ----------
    own : TensorCPU
        The tensor.
    shape : tuple of int
        Its shape.
    layout : str
        Its layout, or an empty text.
    entries : object
        What is in the brackets.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, TensorIndexError
        If the tensor has no such elements.
    """
    import numpy

    where = f"Tensor[...] at {user_location()}"
    entries = entries if isinstance(entries, tuple) else (entries,)
    plain = [_plain_entry(entry, where) for entry in entries]
    num_ellipses = sum(entry is Ellipsis for entry in plain)
    num_named = len(plain) - num_ellipses
    if num_named > len(shape):
        raise ArgumentValueError(
            f"{where}: there must be at most {len(shape)} indices (got {num_named}). Leave some "
            "out."
        )
    if num_ellipses > 1 and num_named:
        raise ArgumentValueError(f"{where}: there must be at most one ellipsis (got more).")
    place = plain.index(Ellipsis) if num_ellipses else len(plain)
    filling = [slice(None)] * (len(shape) - num_named)
    full = [
        *(entry for entry in plain[:place] if entry is not Ellipsis),
        *filling,
        *(entry for entry in plain[place:] if entry is not Ellipsis),
    ]
    for number, (entry, extent) in enumerate(zip(full, shape, strict=True)):
        if isinstance(entry, int) and not -extent <= entry < extent:
            raise TensorIndexError(
                f"{where}: index {entry} must be within dimension {number} (of extent {extent})."
            )
    letters = "".join(
        letter for letter, entry in zip(layout, full, strict=False) if isinstance(entry, slice)
    )
    array = numpy.asarray(own)[tuple(full)]
    return TensorCPU(numpy.asarray(array, order="C"), letters or None)


def _plain_entry(entry: Any, where: str) -> Any:
    if entry is Ellipsis:
        return entry
    if isinstance(entry, slice):
        step = _plain_bound(entry.step, where)
        if step == 0:
            raise ArgumentValueError(f"{where}: steps of slices must not be 0 (got 0). Use 1.")
        return slice(_plain_bound(entry.start, where), _plain_bound(entry.stop, where), step)
    if entry is None:
        raise ArgumentTypeError(
            f"{where}: indices must be integers, slices or an ellipsis (got None). Use expand_dims "
            "for a new dimension."
        )
    return _plain_bound(entry, where)


def _plain_bound(bound: Any, where: str) -> int | None:
    if bound is None:
        return None
    if isinstance(bound, Lazy) and bound._size is not None:
        raise ArgumentTypeError(
            f"{where}: a tensor must not be indexed by a batch. Index a batch: batch.slice[...]."
        )
    try:
        return operator.index(bound)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{where}: indices must be integers, slices or an ellipsis (got a "
            f"{type(bound).__name__}). Convert it."
        ) from error
