"""`fn.dl_tensor_python_function`: the user's own function of DLPack capsules as an operator."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, PythonStep
from dali_core.operators.dl_tensor_python_function.step import CapsuleStep
from dali_core.operators.python_function.arguments import (
    FUNCTION_ARGS,
    bind_layouts,
    num_results,
)

SPEC = OpSpec(
    name="dl_tensor_python_function",
    doc="""Call a Python function on DLPack capsules: those of a batch, or of each sample.

The function gets capsules, which ``torch.utils.dlpack.from_dlpack`` takes, for example, and returns
capsules, or whatever else a `tensors.TensorCPU` can be made from: one, or a tuple of as many as
`num_outputs` says. Of memory that others read, too, it gets a copy, as in `python_function`. Its
results are copied.""",
    args=(
        *FUNCTION_ARGS,
        Arg(
            "batch_processing",
            bool,
            "Call once for a batch, with a list of capsules for each input; it returns lists, too. "
            "Otherwise for each sample.",
            True,
        ),
        Arg("synchronize_stream", bool, "Accepted without effect: data are on the host.", True),
    ),
    inputs=(0, 256),
    outputs=num_results,
    lower=PythonStep(
        CapsuleStep,
        constructor=(
            "function",
            "num_outputs",
            "device",
            "synchronize_stream",
            "batch_processing",
        ),
    ),
    bind=bind_layouts,
)
