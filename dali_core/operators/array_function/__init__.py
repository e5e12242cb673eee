"""Function of the arrays of whole batches, in which all samples have one shape."""

from __future__ import annotations

from dali_core._spec import OpSpec, PythonStep
from dali_core.operators.array_function.step import ArrayFunctionStep
from dali_core.operators.python_function.arguments import (
    FUNCTION_ARGS,
    bind_layouts,
    num_results,
)

SPEC = OpSpec(
    name="array_function",
    role="array function",
    doc="""Call a Python function on each batch.

The function gets a list of NumPy arrays for each input, and returns as many lists of arrays as
`num_outputs` says. Without `output_layouts`, an output has the layout of the input with its number,
if it has as many dimensions. Sources are those of the first input that has any.""",
    args=FUNCTION_ARGS,
    inputs=(0, 256),
    outputs=num_results,
    lower=PythonStep(ArrayFunctionStep, reads_batch=lambda _: True),
    bind=bind_layouts,
    title="plugin.jax.fn.jax_function",
)
