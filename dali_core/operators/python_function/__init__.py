"""`fn.python_function`: the user's own function as an operator."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range
from dali_core.operators.python_function.step import FunctionStep

SPEC = OpSpec(
    name="python_function",
    doc="""Call a Python function on each sample, or on each batch.

The function gets NumPy arrays and returns arrays (or scalars): one, or a tuple of as many as
`num_outputs` says. Its results are copied once the batch is complete: it may reuse their memory for
the next batch, but not for the next sample. It runs under the GIL, one batch after the other, while
native operators go on with other batches.""",
    args=(
        Arg("function", object, "What to call: with one array for each input."),
        Arg("num_outputs", int, "How many results the function returns.", 1, range=Range(0, 4096)),
        Arg(
            "batch_processing",
            bool,
            "Call once for a batch, with a list of arrays for each input; it returns lists, too.",
            False,
        ),
        Arg("output_layouts", list[str], "Layout of each output, or one for all.", None),
    ),
    inputs=(0, 256),
    outputs=lambda arguments: None if arguments["num_outputs"] == 1 else arguments["num_outputs"],
    python_step=FunctionStep,
)
