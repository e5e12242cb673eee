"""Marks on functions: those that define pipelines, and those that are kept as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dali_core.errors import ArgumentValueError

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK = "__dali_core_do_not_convert__"
_DEFINITION = "_is_pipeline_def"


def do_not_convert(function: Function) -> Function:
    """Keep a function as it is when a pipeline with conditionals calls it.

    Otherwise functions of the user that such a pipeline calls are rewritten, so that their `if`
    may be about data as well.

    Parameters
    ----------
    function : callable
        The function.

    Returns
    -------
    callable
        The same function.
    """
    if is_definition(function):
        raise ArgumentValueError(
            "do_not_convert: the function must not define a pipeline (got "
            f"{getattr(function, '__name__', function)!r}). Mark functions that it calls."
        )
    setattr(function, _MARK, True)
    return function


def mark_definition(function: Function) -> Function:
    """Note that a function is what `pipeline_def` made of another."""
    setattr(function, _DEFINITION, True)
    return function


def is_definition(value: object) -> bool:
    """Return whether this is what `pipeline_def` made of a function."""
    return getattr(value, _DEFINITION, False) is True


def is_unconverted(function: Callable[..., Any]) -> bool:
    """Return whether a function is kept as it is."""
    return bool(getattr(function, _MARK, False))
