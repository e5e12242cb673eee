"""Argument binding of readers in Python: their other arguments go to an operator of indices."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from dali_core._spec import OpSpec, Source
from dali_core.errors import ArgumentFormError

_Bound = tuple[tuple[Any, ...], dict[str, Any]]


def hand_to_indices(
    spec: Callable[[], OpSpec], indices: OpSpec, shared: Collection[str]
) -> Callable[[tuple[Any, ...], dict[str, Any]], _Bound]:
    """Make the `bind` of an operator: native code decides on indices, and it reads the samples.

    Parameters
    ----------
    spec : callable
        Returns the specification of the operator.
    indices : OpSpec
        The operator that gives indices.
    shared : collection of str
        Names of the arguments that both take.
    """

    def bind(inputs: tuple[Any, ...], keywords: dict[str, Any]) -> _Bound:
        if inputs:
            raise ArgumentFormError(
                f"0 inputs must be passed (got {len(inputs)}). Pass everything by name."
            )
        own = {*(arg.name for arg in spec().args), "device", "preserve", "bytes_per_sample_hint"}
        reading = {name: keywords[name] for name in keywords if name in shared or name not in own}
        return (Source(indices, reading),), {
            name: keywords[name] for name in keywords if name in own
        }

    return bind
