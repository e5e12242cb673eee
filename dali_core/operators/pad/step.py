"""The step of `fn.pad` that looks at whole batches."""

from __future__ import annotations

from array import array

from dali_core._runtime.step import StepContext, StepOutput
from dali_core._runtime.tensors import TensorListCPU


class LargestExtents:
    """Gives each sample the largest extents in its batch; elements are not looked at.

    Parameters
    ----------
    arguments : dict
        Not used: there are none.
    """

    def __init__(self, arguments: dict[str, object]) -> None:
        pass

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Find the extents for one batch."""
        shapes = inputs[0].shape()
        largest = array("q", [max(extents) for extents in zip(*shapes, strict=True)])
        return [StepOutput([largest] * len(shapes))]

    def skip(self, context: StepContext) -> None:
        """Do nothing: batches do not depend on each other."""

    def reset(self) -> None:
        """Do nothing: batches do not depend on each other."""
