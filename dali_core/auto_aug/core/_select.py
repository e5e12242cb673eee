"""`select`: one of several functions for each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dali_core._graph.node import DataNode
from dali_core.auto_aug.core._checks import is_integer
from dali_core.errors import ArgumentValueError
from dali_core.pipeline.conditionals.conversion import convert_called
from dali_core.pipeline.conditionals.runtime import if_expression


def select(
    ops: Sequence[Callable[..., Any]],
    selected_op_idx: DataNode | int,
    *op_args: Any,
    **op_kwargs: Any,
) -> Any:
    """Apply one of several functions to each sample, as ``ops[selected_op_idx](*args, **kwargs)``.

    The functions are branches of the pipeline: for a sample only the operators of its own function
    run.

    Parameters
    ----------
    ops : sequence of callable
        The functions, such as augmentations. Their results must have equal structures, and equal
        dtypes, numbers of dimensions and layouts.
    selected_op_idx : DataNode or int
        Which one, for each sample; an integer chooses the same for all. Indices of a pipeline that
        are too small or too large choose the first or the last function.
    *op_args, **op_kwargs
        Arguments of the functions.

    Returns
    -------
    DataNode
        What the functions return, or a structure of these.

    Raises
    ------
    ArgumentValueError
        If there is no function, or not the one that an integer chooses.
    """
    if not ops:
        raise ArgumentValueError(
            "select: argument 'ops' must have at least one function (got none). Pass a list of "
            "augmentations."
        )
    if isinstance(selected_op_idx, DataNode):
        return _branches(ops, selected_op_idx, 0, op_args, op_kwargs)
    if not is_integer(selected_op_idx) or not 0 <= selected_op_idx < len(ops):
        raise ArgumentValueError(
            f"select: argument 'selected_op_idx' must be an integer from 0 to {len(ops) - 1}, or "
            f"integers of the pipeline (got {selected_op_idx!r}). Pass an index of a function."
        )
    return convert_called(ops[selected_op_idx])(*op_args, **op_kwargs)


def _branches(
    ops: Sequence[Callable[..., Any]],
    index: DataNode,
    first: int,
    op_args: tuple[Any, ...],
    op_kwargs: dict[str, Any],
) -> Any:
    """Choose among functions of which the first has a certain index, by halving."""
    if len(ops) == 1:
        return convert_called(ops[0])(*op_args, **op_kwargs)
    half = len(ops) // 2
    return if_expression(
        index < first + half,
        partial(_branches, ops[:half], index, first, op_args, op_kwargs),
        partial(_branches, ops[half:], index, first + half, op_args, op_kwargs),
    )
