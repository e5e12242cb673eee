"""Composition of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._call.location import user_location
from dali_core.errors import ArgumentFormError, ArgumentTypeError


def Compose(op_list: Sequence[Callable[..., Any]]) -> Callable[..., Any]:  # noqa: N802
    """Compose operators: each is called with all outputs of the one before.

    Parameters
    ----------
    op_list : sequence of callable
        Operators, or functions that call some. What an operator with ``device="gpu"`` gets is
        moved there.

    Returns
    -------
    callable
        Takes the inputs of the first one, and gives what the last one gives.

    Examples
    --------
    >>> decode = ops.Compose([ops.decoders.Image(), ops.Resize(size=224)])
    >>> images = decode(encoded)
    """
    where = f"ops.Compose at {user_location()}"
    if not isinstance(op_list, Sequence) or not all(map(callable, op_list)):
        raise ArgumentTypeError(
            f"{where}: op_list must be a list of operators (got {op_list!r}). Make objects of "
            "classes of ops."
        )
    if not op_list:
        raise ArgumentFormError(f"{where}: op_list must have an operator (got none).")
    operators = list(op_list)

    def composed(*inputs: Any) -> Any:
        outputs: Any = inputs
        for operator in operators:
            outputs = operator(*inputs)
            inputs = tuple(outputs) if isinstance(outputs, (list, tuple)) else (outputs,)
        return outputs

    return composed
