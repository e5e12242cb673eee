"""The step that looks into videos before a GPU decodes them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.step import Step, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.operators.video.frame_index import FrameIndex
from dali_core.operators.video.surfaces.codec import IndexOf, LatestOnly, load_codec
from dali_core.operators.video.worker.packed_index import is_transposed

# Names of PyNvVideoCodec, and numbers of ITU-T H.273. What says nothing, or something else, has no
# other name there than "UNSPEC".
_MATRICES = {"BT_601": 6, "BT_709": 1, "UNSPEC": 2}
_RANGES = {"MPEG": 0, "UDEF": 0, "JPEG": 1}
_MAX_BITS = 12
_NOTHING = (0,) * 6


class DescribeStep(Step):
    """Describes the videos of a batch, each once.

    Parameters
    ----------
    arguments : dict
        Checked arguments of the operator.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._needs_matrix = arguments["color_matrix"] == "auto"
        self._index_of = IndexOf()
        self._known: LatestOnly[NDArray[np.int64]] = LatestOnly(4096)

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Describe a batch."""
        paths = [os.fsdecode(bytes(np.asarray(sample))) for sample in inputs[0]]
        found = [self._known.get(path, self._describe) for path in paths]
        return [StepOutput(TensorListCPU(found, contiguous=False))]

    def _describe(self, path: str) -> NDArray[np.int64]:
        index = self._index_of(path)
        numbers = _NOTHING if index is None else self._numbers(path, index)
        return np.array(numbers, np.int64)

    def _numbers(self, path: str, index: FrameIndex) -> tuple[int, ...]:
        codec = load_codec()
        try:
            demuxer = codec.CreateDemuxer(path)
            bits = int(demuxer.BitDepth())
            matrix = _MATRICES.get(demuxer.ColorSpace().name)
            is_full = _RANGES.get(demuxer.ColorRange().name)
            extents = (int(demuxer.Height()), int(demuxer.Width()))
        except (RuntimeError, codec.PyNvVCException):
            return _NOTHING  # the host says what is wrong
        height, width = index.height, index.width
        if is_transposed(index.orientation):
            height, width = width, height
        # Surfaces of odd sizes, and of values that are not known, are for the host.
        is_usual = height % 2 == 0 and width % 2 == 0 and 8 <= bits <= _MAX_BITS
        if not is_usual or is_full is None or extents != (height, width):
            return _NOTHING
        if self._needs_matrix and matrix in (None, 2):
            return _NOTHING
        return (height, width, bits, is_full, matrix or 2, index.orientation)
