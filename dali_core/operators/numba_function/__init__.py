"""The operator of `plugin.numba`: functions that Numba has compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dali_core._spec import Arg, Native, OpSpec, PythonStep, Range
from dali_core._types import DALIDataType
from dali_core.operators.numba_function.compiling import Compiled
from dali_core.operators.numba_function.step import BatchStep


def _num_outputs(arguments: dict[str, Any]) -> int | None:
    count = len(arguments["out_types"])
    return None if count == 1 else count


SPEC = OpSpec(
    name="numba_function",
    title="plugin.numba.fn.experimental.numba_function",
    doc="""Call functions that Numba has compiled to native code.

Samples are passed by many threads, without the GIL. See `dali_core.plugin.numba`, which compiles.
""",
    args=(
        # Of a class of their own, so that no document can name an address.
        Arg("run_fn", Compiled, "The compiled function."),
        Arg(
            "setup_fn",
            Compiled,
            "The compiled function that computes shapes of outputs.",
            Compiled(),
        ),
        Arg("out_types", list[DALIDataType], "Types of the outputs."),
        Arg("in_types", list[DALIDataType], "Types of the inputs."),
        Arg("outs_ndim", list[int], "Numbers of dimensions of the outputs.", range=Range(0, 8)),
        Arg("ins_ndim", list[int], "Numbers of dimensions of the inputs.", range=Range(0, 8)),
    ),
    inputs=(1, 256),
    outputs=_num_outputs,
)

# The setup function gets the shapes of all samples.
WITH_SETUP = replace(SPEC, reads_batch=True, lower=Native("numba_function.with_setup"))

WHOLE_BATCH = replace(SPEC, name="numba_function.batch", lower=PythonStep(BatchStep))
