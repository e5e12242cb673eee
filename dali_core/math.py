"""Functions of the elements of tensors, for expressions.

Operands are `DataNode` objects, numbers, constants of `dali_core.types`, lists and arrays; they are
broadcast against each other and converted to a common type as Python's operators on nodes do it.
Functions that give floating point numbers compute integers in ``FLOAT``.
"""

# Parameters are called as in the reference API.
# ruff: noqa: A002

from __future__ import annotations

from typing import Any

from dali_core._call.expressions import arithmetic as _request
from dali_core._call.values import Input
from dali_core._graph.graph import add_operator as _add_operator
from dali_core._graph.node import DataNode


def abs(input: Input) -> DataNode:
    """Return absolute values, of the type of `input`. Those of integers wrap around."""
    return _arithmetic("abs", input)


def acosh(input: Input) -> DataNode:
    """Return inverse hyperbolic cosines."""
    return _arithmetic("acosh", input)


def acos(input: Input) -> DataNode:
    """Return angles in radians from their cosines."""
    return _arithmetic("acos", input)


def asinh(input: Input) -> DataNode:
    """Return inverse hyperbolic sines."""
    return _arithmetic("asinh", input)


def asin(input: Input) -> DataNode:
    """Return angles in radians from their sines."""
    return _arithmetic("asin", input)


def atan2(x: Input, y: Input) -> DataNode:
    """Return angles in radians from the quotients ``x / y``, by the signs of both."""
    return _arithmetic("atan2", x, y)


def atanh(input: Input) -> DataNode:
    """Return inverse hyperbolic tangents."""
    return _arithmetic("atanh", input)


def atan(input: Input) -> DataNode:
    """Return angles in radians from their tangents."""
    return _arithmetic("atan", input)


def cbrt(input: Input) -> DataNode:
    """Return cube roots."""
    return _arithmetic("cbrt", input)


def ceil(input: Input) -> DataNode:
    """Round up to whole numbers."""
    return _arithmetic("ceil", input)


def clamp(value: Input, lo: Input, hi: Input) -> DataNode:
    """Return `value`, but at least `lo`, and at most `hi` in any case."""
    return _arithmetic("clamp", value, lo, hi)


def cosh(input: Input) -> DataNode:
    """Return hyperbolic cosines."""
    return _arithmetic("cosh", input)


def cos(input: Input) -> DataNode:
    """Return cosines of angles in radians."""
    return _arithmetic("cos", input)


def exp(input: Input) -> DataNode:
    """Return powers of e."""
    return _arithmetic("exp", input)


def fabs(input: Input) -> DataNode:
    """Return absolute values as floating point numbers."""
    return _arithmetic("fabs", input)


def floor(input: Input) -> DataNode:
    """Round down to whole numbers."""
    return _arithmetic("floor", input)


def fpow(base: Input, exponent: Input) -> DataNode:
    """Return powers as floating point numbers."""
    return _arithmetic("fpow", base, exponent)


def log10(input: Input) -> DataNode:
    """Return logarithms to base 10."""
    return _arithmetic("log10", input)


def log2(input: Input) -> DataNode:
    """Return logarithms to base 2."""
    return _arithmetic("log2", input)


def log(input: Input) -> DataNode:
    """Return natural logarithms."""
    return _arithmetic("log", input)


def max(left: Input, right: Input) -> DataNode:
    """Return the larger of two numbers; `right` where one is not a number."""
    return _arithmetic("max", left, right)


def min(left: Input, right: Input) -> DataNode:
    """Return the smaller of two numbers; `right` where one is not a number."""
    return _arithmetic("min", left, right)


def pow(base: Input, exponent: Input) -> DataNode:
    """Return powers, as ``base ** exponent`` does."""
    return _arithmetic("pow", base, exponent)


def rsqrt(input: Input) -> DataNode:
    """Return 1 over square roots."""
    return _arithmetic("rsqrt", input)


def sinh(input: Input) -> DataNode:
    """Return hyperbolic sines."""
    return _arithmetic("sinh", input)


def sin(input: Input) -> DataNode:
    """Return sines of angles in radians."""
    return _arithmetic("sin", input)


def sqrt(input: Input) -> DataNode:
    """Return square roots."""
    return _arithmetic("sqrt", input)


def tanh(input: Input) -> DataNode:
    """Return hyperbolic tangents."""
    return _arithmetic("tanh", input)


def tan(input: Input) -> DataNode:
    """Return tangents of angles in radians."""
    return _arithmetic("tan", input)


def _arithmetic(function: str, *operands: Any) -> DataNode:
    node = _add_operator(*_request(function, *operands))
    assert isinstance(node, DataNode)
    return node
