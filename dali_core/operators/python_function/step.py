"""The step behind `fn.python_function`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core._runtime.step import (
    SampleFailed,
    Step,
    StepContext,
    StepOutput,
    check_samples,
    fill_failed,
    note_failure,
)
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.errors import ArgumentTypeError


class FunctionStep(Step):
    """Calls a function of the user.

    Parameters
    ----------
    arguments : dict
        Checked arguments of `fn.python_function`.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._function = arguments["function"]
        if not callable(self._function):
            raise ArgumentTypeError(f"function must be callable (got {self._function!r}).")
        self._num_outputs: int = arguments["num_outputs"]
        self._whole_batch: bool = arguments["batch_processing"]
        layouts: list[str] = arguments.get("output_layouts") or []
        if len(layouts) > self._num_outputs:
            raise ArgumentTypeError(
                f"output_layouts must have at most one entry for each of the {self._num_outputs} "
                f"outputs (got {len(layouts)})."
            )
        self._layouts = layouts + [""] * (self._num_outputs - len(layouts))

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Call the function for one batch."""
        size = len(inputs[0]) if inputs else context.batch_size
        if self._whole_batch:
            results = self._call(
                -1, [[self.argument(batch, i) for i in range(size)] for batch in inputs]
            )
            for number, result in enumerate(results):
                if len(result) != size:
                    raise ValueError(
                        f"output {number} must have one entry for each of the {size} samples "
                        f"(got {len(result)})."
                    )
        else:
            results = self._call_for_each(context, size, inputs)
        return [
            StepOutput(samples, layout, origin=0 if inputs else -1)
            for samples, layout in zip(results, self._layouts, strict=True)
        ]

    @staticmethod
    def argument(batch: TensorListCPU, sample: int) -> Any:
        """Pass a sample to the function: as an array that it may write."""
        array = batch.at(sample)
        return array if array.flags.writeable else array.copy()

    def _call_for_each(
        self, context: StepContext, size: int, inputs: list[TensorListCPU]
    ) -> tuple[Sequence[Any], ...]:
        rows: list[tuple[Any, ...]] = []
        for sample in range(size):
            try:
                rows.append(self._call(sample, [self.argument(batch, sample) for batch in inputs]))
            except SampleFailed as failed:
                if context.failed is None or not isinstance(failed.__cause__, Exception):
                    raise
                note_failure(context, sample, failed.__cause__)
                rows.append((None,) * self._num_outputs)
        if not rows:
            return ((),) * self._num_outputs
        columns = [list(column) for column in zip(*rows, strict=True)]
        if context.failed is not None:
            columns = [
                check_samples(context, column, layout)
                for column, layout in zip(columns, self._layouts, strict=True)
            ]
            fill_failed(context, columns)
        return tuple(columns)

    def _call(self, sample: int, values: list[Any]) -> tuple[Any, ...]:
        try:
            return self._as_tuple(self._function(*values))
        except Exception as error:
            raise SampleFailed(sample) from error

    def _as_tuple(self, result: Any) -> tuple[Any, ...]:
        if self._num_outputs == 0:
            return ()
        results: Sequence[Any] = (
            result
            if isinstance(result, tuple) or (self._num_outputs > 1 and isinstance(result, list))
            else (result,)
        )
        if len(results) != self._num_outputs:
            raise ValueError(
                f"the function must return {self._num_outputs} results (got {len(results)}). "
                "Change num_outputs or the function."
            )
        return tuple(results)
