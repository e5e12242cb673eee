"""The step behind functions of the arrays of whole batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core._runtime.step import StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.operators.python_function.step import FunctionStep


class ArrayFunctionStep(FunctionStep):
    """Calls a function of the user for whole batches, whose outputs are like its inputs.

    Parameters
    ----------
    arguments : dict
        Checked arguments.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__({**arguments, "batch_processing": True})
        self._has_layouts = arguments.get("output_layouts") is not None

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Call the function for one batch."""
        outputs = super().run(context, inputs)
        # As of all operators, the sources are those of the first input that has any.
        origin = next((n for n, batch in enumerate(inputs) if _has_sources(batch)), -1)
        return [
            StepOutput(output.samples, self._layout(number, output, inputs), origin)
            for number, output in enumerate(outputs)
        ]

    def _layout(self, number: int, output: StepOutput, inputs: list[TensorListCPU]) -> str:
        if self._has_layouts or number >= len(inputs) or not len(output.samples):
            return output.layout
        layout = inputs[number].layout()
        return layout if len(layout) == np.ndim(output.samples[0]) else ""


def _has_sources(batch: TensorListCPU) -> bool:
    return any(batch[i].source_info() for i in range(len(batch)))
