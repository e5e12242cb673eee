"""The step behind `fn.dump_image`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.step import Step, StepContext, StepOutput, fill_failed, note_failure
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.errors import ArgumentValueError


class DumpStep(Step):
    """Writes images, and gives them as they are.

    Parameters
    ----------
    arguments : dict
        Checked arguments of `fn.dump_image`.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._suffix: str = arguments["suffix"]
        if "/" in self._suffix:
            raise ArgumentValueError(
                f"suffix must be part of a file name, without '/' (got {self._suffix!r}). Change "
                "the working directory to write elsewhere."
            )

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Write a batch."""
        (batch,) = inputs
        for number in range(len(batch)):
            try:
                self._write(number, batch.at(number), batch.layout())
            except Exception as error:
                note_failure(context, number, error)
        samples = list(batch)
        fill_failed(context, [samples])
        return [StepOutput(samples, batch.layout(), origin=0)]

    def _write(self, number: int, image: NDArray[np.uint8], layout: str) -> None:
        fits = image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] in (1, 3)
        if not fits or layout not in ("", "HWC"):
            raise ArgumentValueError(
                "the input must be an image of layout 'HWC' with 1 or 3 channels, uint8 (got "
                f"{image.dtype} of shape {image.shape} with layout {layout!r}). Convert it."
            )
        height, width, channels = image.shape
        rows = image.reshape(height, width * channels).tolist()
        lines = [f"P{3 if channels == 3 else 2}", f"{width} {height}", "255"]
        lines += [" ".join(map(str, row)) + " " for row in rows]
        with open(f"{number}-{self._suffix}-0.ppm", "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
