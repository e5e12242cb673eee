"""Constants as values of a graph: the same tensor for every sample."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, overload

from dali_core._call.location import user_location
from dali_core._constants import ScalarConstant, constant_arguments, is_constant
from dali_core._data_types import DALIDataType
from dali_core._graph.graph import add_operator
from dali_core._graph.node import DataNode
from dali_core._messages import shown
from dali_core._registry.specs import spec_of_role
from dali_core.errors import ArgumentTypeError, located


@overload
def Constant(value: float, dtype: DALIDataType | None = None) -> ScalarConstant: ...


@overload
def Constant(
    value: Any,
    dtype: DALIDataType | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    device: str | None = None,
    **kwargs: Any,
) -> DataNode: ...


def Constant(  # noqa: N802 (the reference's name)
    value: Any,
    dtype: DALIDataType | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    device: str | None = None,
    **kwargs: Any,
) -> ScalarConstant | DataNode:
    """Make a constant for a pipeline that is being defined.

    Parameters
    ----------
    value : bool, int, float, list, or array
        The numbers. Arrays of NumPy, and what converts to them (PyTorch's tensors, say), keep shape
        and type, but types of 64 bits become ``INT32``, ``UINT32`` or ``FLOAT``.
    dtype : DALIDataType, optional
        Type of the constant; by default ``BOOL``, ``INT32`` or ``FLOAT`` for Python's numbers.
    shape : int or sequence of int, optional
        Shape; a single number fills it.
    layout : str, optional
        Layout: one letter a dimension.
    device : str, optional
        ``"cpu"``; makes a node of a single number, too.
    **kwargs
        More arguments of `fn.constant`, such as `name`.

    Returns
    -------
    ScalarConstant or DataNode
        For a single number and no other argument than `dtype`, a number to be used in expressions.
        Otherwise a node: the same tensor for every sample.
    """
    is_number = isinstance(value, numbers.Real) or getattr(value, "shape", None) == ()
    if is_number and not shape and not layout and device is None and not kwargs:
        return ScalarConstant(value, dtype)
    return ConstantNode(device, value, dtype, shape, layout, **kwargs)


def ConstantNode(  # noqa: N802 (the reference's name)
    device: str | None,
    value: Any,
    dtype: DALIDataType | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    **kwargs: Any,
) -> DataNode:
    """Make a node that is the same tensor for every sample; see `Constant`."""
    where = f"types.Constant at {user_location()}"
    if not is_constant(value):
        raise ArgumentTypeError(
            f"{where}: value must be a number, a list or an array (got {shown(value)}, a "
            f"{type(value).__name__}). Convert it."
        )
    if isinstance(shape, int):
        shape = [shape]
    with located(where):
        arguments = constant_arguments(value, dtype, shape)
    placed = {"layout": layout, "device": device}
    return _constant({**arguments, **kwargs, **_given(placed)})


def add_constant(value: Any) -> DataNode:
    """Add a tensor that is the same for every sample, made of a number, a list or an array."""
    return _constant(constant_arguments(value))


def _constant(arguments: dict[str, Any]) -> DataNode:
    node = add_operator(spec_of_role("constant tensor"), (), arguments)
    assert isinstance(node, DataNode)
    return node


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}
