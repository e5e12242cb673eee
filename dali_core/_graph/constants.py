"""Numbers, lists and arrays of the user's program as values of the graph."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from dali_core._graph.build import add_literal, add_operator
from dali_core._graph.context import user_location
from dali_core._graph.node import DataNode
from dali_core._graph.registry import spec_of_role
from dali_core._literals import (
    as_array,
    check_range,
    is_array,
    is_literal,
    literal_arguments,
)
from dali_core._messages import shown
from dali_core._recorder import recorder
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.types import DALIDataType, ScalarConstant


def constant_node(
    value: Any,
    dtype: DALIDataType | None,
    shape: Sequence[int] | int | None,
    layout: str | None,
    device: str | None,
    keywords: dict[str, Any],
) -> DataNode:
    """Record a tensor that is the same for every sample; see `types.Constant`."""
    where = f"types.Constant at {user_location()}"
    if not is_literal(value):
        raise ArgumentTypeError(
            f"{where}: value must be a number, a list or an array (got {shown(value)}, a "
            f"{type(value).__name__}). Convert it."
        )
    if isinstance(shape, int):
        shape = [shape]
    try:
        arguments = literal_arguments(value, dtype, shape)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{where}: {error}") from error
    if layout is not None:
        keywords = {**keywords, "layout": layout}
    if device is not None:
        keywords = {**keywords, "device": device}
    node = add_operator(spec_of_role("literal"), (), {**arguments, **keywords})
    assert isinstance(node, DataNode)
    return node


def as_operand(value: Any, where: str) -> DataNode | ScalarConstant:
    """Return what an expression can compute with: a node or a number.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the value is neither, nor a list or an array.
    """
    if isinstance(value, DataNode):
        return value
    try:
        if isinstance(value, (list, tuple)) or (is_array(value) and as_array(value).ndim):
            return add_literal(value)
        constant = value if isinstance(value, ScalarConstant) else ScalarConstant(value)
        if not isinstance(constant.value, float):
            check_range(constant.value, constant.dtype)
        return constant
    except (ArgumentTypeError, ArgumentValueError) as error:
        is_number = is_literal(value) and not isinstance(value, enum.Enum)
        if isinstance(error, ArgumentTypeError) and not is_number:
            error = ArgumentTypeError(
                f"operands must be DataNodes, numbers, lists or arrays (got {shown(value)}, a "
                f"{type(value).__name__}). Convert it."
            )
        raise type(error)(f"{where}: {error}") from error


recorder.constant_node = constant_node
