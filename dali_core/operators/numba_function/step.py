"""The step behind a function of whole batches that Numba has compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core._runtime.step import Step, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._types import to_numpy_type
from dali_core.operators.numba_function.compiling import Compiled, as_addresses, as_pointer, call


class BatchStep(Step):
    """Calls a compiled function with the addresses of all samples, without the GIL.

    Parameters
    ----------
    arguments : dict
        Checked arguments of the description.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._run: Compiled = arguments["run_fn"]
        self._setup: Compiled | None = arguments["setup_fn"] or None
        self._out_types = [to_numpy_type(kind) for kind in arguments["out_types"]]
        self._in_types = arguments["in_types"]
        self._outs_ndim: list[int] = arguments["outs_ndim"]
        self._ins_ndim: list[int] = arguments["ins_ndim"]

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Call the functions for one batch."""
        size = len(inputs[0])
        arrays = [[np.asarray(batch.at(i)) for i in range(size)] for batch in inputs]
        for number, batch in enumerate(inputs):
            self._check(number, batch, arrays[number])
        shapes = self._shapes(arrays, size)
        outputs = [
            [np.empty(shape, kind) for shape in column]
            for column, kind in zip(shapes, self._out_types, strict=True)
        ]
        columns = [*outputs, *arrays]
        addresses = np.array([each.ctypes.data for column in columns for each in column], np.intp)
        extents = [extent for column in columns for each in column for extent in each.shape]
        call(self._run, as_addresses(addresses), as_pointer(np.array(extents, np.int64)), size)
        return [StepOutput(column, "", origin=0) for column in outputs]

    def _check(self, number: int, batch: TensorListCPU, arrays: list[Any]) -> None:
        if batch.dtype != self._in_types[number] and arrays:
            raise ValueError(
                f"input {number} must be of type {self._dtype(number)}, which "
                f"in_types says (got {arrays[0].dtype}). Cast it, or change in_types."
            )
        for array in arrays:
            if array.ndim != self._ins_ndim[number]:
                raise ValueError(
                    f"input {number} must have {self._ins_ndim[number]} dimensions, which ins_ndim "
                    f"says (got shape {array.shape}). Reshape it, or change ins_ndim."
                )

    def _dtype(self, number: int) -> str:
        return str(np.dtype(to_numpy_type(self._in_types[number])))

    def _shapes(self, arrays: list[list[Any]], size: int) -> list[list[tuple[int, ...]]]:
        if self._setup is None:
            return [[array.shape for array in column] for column in arrays]
        given = np.array(
            [n for column in arrays for array in column for n in array.shape], np.int64
        )
        found = np.zeros(sum(self._outs_ndim) * size, np.int64)
        call(self._setup, as_pointer(found), as_pointer(given), size)
        if (found < 0).any():
            raise ValueError(
                f"setup_fn must set extents of at least 0 (got {found[found < 0][0]}). Set all "
                "extents of all samples."
            )
        ends = np.cumsum(self._outs_ndim)[:-1] * size
        parts = np.split(found, ends)
        return [
            [tuple(map(int, row)) for row in part.reshape(size, ndim)]
            for part, ndim in zip(parts, self._outs_ndim, strict=True)
        ]
