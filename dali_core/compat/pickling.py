"""`nvidia.dali.pickling`: functions that are pickled by value for workers that are not forked."""

from __future__ import annotations

import inspect
from typing import TypeVar

from dali_core.errors import ArgumentTypeError

Function = TypeVar("Function")


def pickle_by_value(fun: Function) -> Function:
    """Mark a function as one to be sent by value.

    Workers import it where they can, so that they have the same one; functions that cannot be
    imported are sent by value anyway, with cloudpickle.

    Raises
    ------
    ArgumentTypeError
        If it is no function written in Python.
    """
    if not inspect.isfunction(fun):
        raise ArgumentTypeError(
            f"pickle_by_value: fun must be a function (got {fun!r}). Mark functions only."
        )
    fun._dali_pickle_by_value = True  # type: ignore[attr-defined]
    return fun
