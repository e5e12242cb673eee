"""The step behind `fn.dl_tensor_python_function`."""

from __future__ import annotations

import copy
from typing import Any

from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.operators.python_function.step import FunctionStep


class CapsuleStep(FunctionStep):
    """Calls a function of the user with DLPack capsules.

    Parameters
    ----------
    arguments : dict
        Checked arguments of `fn.dl_tensor_python_function`.
    """

    @staticmethod
    def argument(batch: TensorListCPU, sample: int) -> Any:
        """Export a sample, of memory that the function may write."""
        tensor = batch[sample]
        return (copy.deepcopy(tensor) if memoryview(tensor).readonly else tensor).__dlpack__()
