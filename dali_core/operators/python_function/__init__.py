"""`fn.python_function`: the user's own function as an operator."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, PythonStep
from dali_core.operators.python_function.arguments import (
    FUNCTION_ARGS,
    bind_layouts,
    num_results,
)
from dali_core.operators.python_function.step import FunctionStep

SPEC = OpSpec(
    name="python_function",
    doc="""Call a Python function on each sample, or on each batch.

The function gets NumPy arrays and returns arrays (or scalars): one, or a tuple of as many as
`num_outputs` says. It may write into the arrays that it gets: those whose memory others read, too,
are copies. Its results are copied once the batch is complete: it may reuse their memory for
the next batch, but not for the next sample. It runs under the GIL, one batch after the other, while
native operators continue with other batches.""",
    args=(
        *FUNCTION_ARGS,
        Arg(
            "batch_processing",
            bool,
            "Call once for a batch, with a list of arrays for each input; it returns lists, too.",
            False,
        ),
    ),
    inputs=(0, 256),
    outputs=num_results,
    lower=PythonStep(
        FunctionStep,
        constructor=("function", "num_outputs", "device", "batch_processing"),
        reads_batch=lambda arguments: bool(arguments["batch_processing"]),
    ),
    bind=bind_layouts,
)
