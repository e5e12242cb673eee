"""Lists of values as inputs: one call of an operator for each of their entries."""

from __future__ import annotations

from typing import Any

from dali_core._call.values import Value
from dali_core._spec import OpSpec
from dali_core.errors import ArgumentTypeError, ArgumentValueError


def input_sets(spec: OpSpec, inputs: tuple[Any, ...], where: str) -> list[tuple[Any, ...]]:
    """Return the inputs of each call that lists of values stand for.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    inputs : tuple
        Positional inputs of a call. What is no list of values belongs to each of the calls.
    where : str
        The call, for messages.

    Returns
    -------
    list of tuple
        Inputs of each call; only those of the call if there is no list of values.

    Raises
    ------
    ArgumentTypeError
        If a list holds values and other things, or the operator runs in Python.
    ArgumentValueError
        If lists have different lengths.
    """
    lists = [value for value in inputs if _holds_values(value)]
    if not lists:
        return [inputs]
    for value in lists:
        others = [entry for entry in value if not isinstance(entry, Value)]
        if others or not isinstance(value, list):
            what = f"a {type(others[0]).__name__} among them" if others else "a tuple"
            raise ArgumentTypeError(
                f"{where}: several inputs in one must be a list of DataNodes (got {what}). Pass "
                "inputs by position, each for itself."
            )
    lengths = {len(value) for value in lists}
    if len(lengths) > 1:
        raise ArgumentValueError(
            f"{where}: lists of inputs must have the same length (got {sorted(lengths)}). Pass as "
            "many nodes in each."
        )
    if spec.python_step is not None:
        raise ArgumentTypeError(
            f"{where}: operators in Python must get each input for itself (got a list). Call the "
            "operator for each."
        )
    return [
        tuple(value[i] if _holds_values(value) else value for value in inputs)
        for i in range(lengths.pop())
    ]


def _holds_values(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, Value) for item in value)
