"""Random elements of a list."""

from __future__ import annotations

from typing import Any

from dali_core._spec import UNSET, Arg, OpSpec, Range
from dali_core.operators.constant import constant_source


def _bind(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Accept a number or a list as the first input."""
    return (*(constant_source(value) for value in inputs[:1]), *inputs[1:]), keywords


SPEC = OpSpec(
    name="random.choice",
    doc="""Draw elements of a list, or numbers below a bound, with replacement.

Slices along the first dimension are drawn from a tensor of more dimensions. The output has the type
of the first input and the shape `shape`, or that of the second input, or is one element for each
sample; dimensions of slices follow. What is drawn for a sample depends on the seed, the epoch and
the sample alone, not on batch size, threads or shards.

A bound that is on the device is not checked: with `p` there are as many choices as probabilities,
and below a bound of less than 1 all numbers are 0.
""",
    inputs=(1, 2),
    input_docs=(
        "What to choose from: a node, a list, or an integer ``n`` for the numbers from 0 to "
        "``n - 1``.",
        "Tensors that give the shape of the output; their elements are not read.",
    ),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        Arg(
            "p",
            list[float],
            "Probability of each element, with a sum of 1. Equal by default.",
            default=UNSET,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "shape",
            list[int],
            "Shape of the output; excludes the second input.",
            default=UNSET,
            tensor=True,
            range=Range(0),
        ),
    ),
    random=True,
    bind=_bind,
)
