"""Functions of the elements of tensors and batches.

Operands are tensors, batches, numbers, lists and arrays; they are broadcast against each other.
Functions that give floating point numbers compute integers in ``f32``.
"""

# Names are those of the reference API.
# ruff: noqa: A002

from __future__ import annotations

from typing import Any

from dali_core.dynamic._conversion import conversions
from dali_core.dynamic._lazy import Lazy
from dali_core.dynamic._tensors import Tensor


def _compute(function: str, *operands: Any) -> Any:
    first = operands[0]
    if not any(isinstance(operand, Lazy) for operand in operands):
        first = conversions.as_input(first, f"math.{function}")
        operands = (first, *operands[1:])
    return Tensor._computed(first, function, *operands)


def abs(input: Any) -> Any:
    """Return absolute values, of the type of `input`. Those of integers wrap around."""
    return _compute("abs", input)


def fabs(input: Any) -> Any:
    """Return absolute values as floating point numbers."""
    return _compute("fabs", input)


def sqrt(input: Any) -> Any:
    """Return square roots."""
    return _compute("sqrt", input)


def rsqrt(input: Any) -> Any:
    """Return reciprocals of square roots."""
    return _compute("rsqrt", input)


def cbrt(input: Any) -> Any:
    """Return cube roots."""
    return _compute("cbrt", input)


def exp(input: Any) -> Any:
    """Return powers of e."""
    return _compute("exp", input)


def log(input: Any) -> Any:
    """Return natural logarithms."""
    return _compute("log", input)


def log2(input: Any) -> Any:
    """Return logarithms to base 2."""
    return _compute("log2", input)


def log10(input: Any) -> Any:
    """Return logarithms to base 10."""
    return _compute("log10", input)


def sin(input: Any) -> Any:
    """Return sines of angles in radians."""
    return _compute("sin", input)


def cos(input: Any) -> Any:
    """Return cosines of angles in radians."""
    return _compute("cos", input)


def tan(input: Any) -> Any:
    """Return tangents of angles in radians."""
    return _compute("tan", input)


def asin(input: Any) -> Any:
    """Return angles in radians from their sines."""
    return _compute("asin", input)


def acos(input: Any) -> Any:
    """Return angles in radians from their cosines."""
    return _compute("acos", input)


def atan(input: Any) -> Any:
    """Return angles in radians from their tangents."""
    return _compute("atan", input)


def sinh(input: Any) -> Any:
    """Return hyperbolic sines."""
    return _compute("sinh", input)


def cosh(input: Any) -> Any:
    """Return hyperbolic cosines."""
    return _compute("cosh", input)


def tanh(input: Any) -> Any:
    """Return hyperbolic tangents."""
    return _compute("tanh", input)


def asinh(input: Any) -> Any:
    """Return inverse hyperbolic sines."""
    return _compute("asinh", input)


def acosh(input: Any) -> Any:
    """Return inverse hyperbolic cosines."""
    return _compute("acosh", input)


def atanh(input: Any) -> Any:
    """Return inverse hyperbolic tangents."""
    return _compute("atanh", input)


def floor(input: Any) -> Any:
    """Return the largest whole numbers that are not greater."""
    return _compute("floor", input)


def ceil(input: Any) -> Any:
    """Return the smallest whole numbers that are not less."""
    return _compute("ceil", input)


def pow(base: Any, exponent: Any) -> Any:
    """Return powers; those of integers are integers."""
    return _compute("pow", base, exponent)


def fpow(base: Any, exponent: Any) -> Any:
    """Return powers as floating point numbers."""
    return _compute("fpow", base, exponent)


def min(a: Any, b: Any) -> Any:
    """Return the lesser elements."""
    return _compute("min", a, b)


def max(a: Any, b: Any) -> Any:
    """Return the greater elements."""
    return _compute("max", a, b)


def atan2(x: Any, y: Any) -> Any:
    """Return angles in radians from the quotients ``x / y``, by the signs of both."""
    return _compute("atan2", x, y)


def clamp(value: Any, lo: Any, hi: Any) -> Any:
    """Return values, limited from below and above."""
    return _compute("clamp", value, lo, hi)
