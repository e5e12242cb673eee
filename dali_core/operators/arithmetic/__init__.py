"""Compute functions of elements: what expressions are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._spec import Arg, OpSpec

_SYMBOLS = {
    "pos": "+",
    "neg": "-",
    "invert": "~",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}


def _title(arguments: Mapping[str, Any]) -> str:
    function = arguments["function"]
    symbol = _SYMBOLS.get(function)
    return f"operator {symbol}" if symbol else f"math.{function}"


SPEC = OpSpec(
    name="arithmetic",
    role="expression",
    title=_title,
    doc="""Compute a function of the elements of tensors and constants.

See the operators of `DataNode` and `dali_core.math`, which make these nodes.

On a device, quotients and remainders of integers by 0 are 0, where the host raises an error:
kernels cannot raise one. Functions of the C library, such as `exp`, `sin` or `pow`, are those of
CUDA, whose last bits may differ from the host's (at most 4 units in the last place, for most of
them 1 or 2). Everything else is the same bit for bit.
""",
    inputs=(0, 3),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        Arg("function", str, "Which function."),
        Arg("operands", list[int], "For each operand the number of an input; -1 for a constant."),
        Arg("constant_types", list[int], "Number of the type of each constant."),
        Arg("constant_integers", list[int], "Value of each constant of integer type."),
        Arg(
            "constant_reals",
            list[float],
            "Value of each constant of floating point type.",
            finite=False,
        ),
    ),
)
