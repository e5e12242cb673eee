"""The step behind `fn.batch_extents`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core._runtime.step import Step, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU

_LARGEST = 2**31 - 1


class BatchExtentsStep(Step):
    """Gives the largest lengths of the samples of a batch.

    Parameters
    ----------
    arguments : dict
        Checked arguments of `fn.batch_extents`: none.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        pass

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Return the same vector for all samples of a batch."""
        (batch,) = inputs
        extents = context.extents() or [max(sizes) for sizes in zip(*batch.shape(), strict=True)]
        if max(extents, default=0) > _LARGEST:
            raise ValueError(
                f"lengths must be below 2**31 (got {max(extents)}). Measure them in a larger unit."
            )
        return [StepOutput([np.array(extents, np.int32)] * len(batch))]
