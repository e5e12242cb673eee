"""Functions of the elements of tensors, for expressions.

Operands are `DataNode` objects, numbers, constants of `dali_core.types`, lists and arrays; they are
broadcast against each other and converted to a common type as Python's operators on nodes do it.
Functions that give floating point numbers compute integers in ``FLOAT``.
"""

from __future__ import annotations

from dali_core._graph.accepted_types import Input
from dali_core._graph.expressions import arithmetic as _arithmetic
from dali_core._graph.node import DataNode


def abs(value: Input) -> DataNode:
    """Give absolute values, of the type of `value`. Those of integers wrap around."""
    return _arithmetic("abs", value)


def acosh(value: Input) -> DataNode:
    """Give inverse hyperbolic cosines."""
    return _arithmetic("acosh", value)


def acos(value: Input) -> DataNode:
    """Give angles in radians from their cosines."""
    return _arithmetic("acos", value)


def asinh(value: Input) -> DataNode:
    """Give inverse hyperbolic sines."""
    return _arithmetic("asinh", value)


def asin(value: Input) -> DataNode:
    """Give angles in radians from their sines."""
    return _arithmetic("asin", value)


def atan2(x: Input, y: Input) -> DataNode:
    """Give angles in radians from the quotients ``x / y``, by the signs of both."""
    return _arithmetic("atan2", x, y)


def atanh(value: Input) -> DataNode:
    """Give inverse hyperbolic tangents."""
    return _arithmetic("atanh", value)


def atan(value: Input) -> DataNode:
    """Give angles in radians from their tangents."""
    return _arithmetic("atan", value)


def cbrt(value: Input) -> DataNode:
    """Give cube roots."""
    return _arithmetic("cbrt", value)


def ceil(value: Input) -> DataNode:
    """Round up to whole numbers."""
    return _arithmetic("ceil", value)


def clamp(value: Input, lo: Input, hi: Input) -> DataNode:
    """Give `value`, but at least `lo`, and at most `hi` in any case."""
    return _arithmetic("clamp", value, lo, hi)


def cosh(value: Input) -> DataNode:
    """Give hyperbolic cosines."""
    return _arithmetic("cosh", value)


def cos(value: Input) -> DataNode:
    """Give cosines of angles in radians."""
    return _arithmetic("cos", value)


def exp(value: Input) -> DataNode:
    """Give powers of e."""
    return _arithmetic("exp", value)


def fabs(value: Input) -> DataNode:
    """Give absolute values as floating point numbers."""
    return _arithmetic("fabs", value)


def floor(value: Input) -> DataNode:
    """Round down to whole numbers."""
    return _arithmetic("floor", value)


def fpow(base: Input, exponent: Input) -> DataNode:
    """Give powers as floating point numbers."""
    return _arithmetic("fpow", base, exponent)


def log10(value: Input) -> DataNode:
    """Give logarithms to base 10."""
    return _arithmetic("log10", value)


def log2(value: Input) -> DataNode:
    """Give logarithms to base 2."""
    return _arithmetic("log2", value)


def log(value: Input) -> DataNode:
    """Give natural logarithms."""
    return _arithmetic("log", value)


def max(left: Input, right: Input) -> DataNode:
    """Give the larger of two numbers; `right` where one is not a number."""
    return _arithmetic("max", left, right)


def min(left: Input, right: Input) -> DataNode:
    """Give the smaller of two numbers; `right` where one is not a number."""
    return _arithmetic("min", left, right)


def pow(base: Input, exponent: Input) -> DataNode:
    """Give powers, as ``base ** exponent`` does."""
    return _arithmetic("pow", base, exponent)


def rsqrt(value: Input) -> DataNode:
    """Give 1 over square roots."""
    return _arithmetic("rsqrt", value)


def sinh(value: Input) -> DataNode:
    """Give hyperbolic sines."""
    return _arithmetic("sinh", value)


def sin(value: Input) -> DataNode:
    """Give sines of angles in radians."""
    return _arithmetic("sin", value)


def sqrt(value: Input) -> DataNode:
    """Give square roots."""
    return _arithmetic("sqrt", value)


def tanh(value: Input) -> DataNode:
    """Give hyperbolic tangents."""
    return _arithmetic("tanh", value)


def tan(value: Input) -> DataNode:
    """Give tangents of angles in radians."""
    return _arithmetic("tan", value)
