"""The step that decodes videos on a device."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dali_core._runtime.device_data import OnDevice, gathered
from dali_core._runtime.step import Step, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_list_gpu import adopted
from dali_core.operators.video.surfaces.codec import IndexOf, LatestOnly, load_codec

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream

_OPEN_FILES = 4
_BYTES, _WORDS = "|u1", "<u2"


class DecodeFramesStep(Step):
    """Decodes surfaces on the device, in the order of the pipeline's stream.

    A frame is requested by its number and identified by its time: where that is not the time of
    the number in the index, the host decodes the clip.
    """

    def __init__(self) -> None:
        self._stream: Stream | None = None
        self._index_of = IndexOf()
        self._decoders: LatestOnly[Any] = LatestOnly(_OPEN_FILES)

    def use_device(self, stream: Stream, num_threads: int) -> None:
        """Set the stream in which surfaces are needed."""
        if self._stream is not None and self._stream.device_id != stream.device_id:
            self._decoders = LatestOnly(_OPEN_FILES)
        self._stream = stream

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Decode a batch."""
        stream = self._stream
        assert stream is not None
        results = []
        for path, numbers, description in zip(*inputs, strict=True):
            name = os.fsdecode(bytes(np.asarray(path)))
            said = np.asarray(description).tolist()
            results.append(self._decode(name, np.asarray(numbers).tolist(), said, stream))
        return [StepOutput(adopted(results, "", stream), origin=0)]

    def _decode(
        self, path: str, numbers: Sequence[int], description: Sequence[int], stream: Stream
    ) -> OnDevice:
        height, width, bits = description[:3]
        index = self._index_of(path)
        if index is None or bits == 0 or not numbers or min(numbers) < 0:
            return gathered([], [], _BYTES, 0, stream)
        frame_bytes = height * width * 3 // 2 * (2 if bits > 8 else 1)
        codec = load_codec()
        wanted = sorted(set(numbers))
        try:
            decoder = self._decoders.get(path, self._open)
            frames = list(decoder.get_batch_frames_by_index(wanted))
            if [int(frame.getPTS()) for frame in frames] != index.pts[wanted].tolist():
                frames = []
        except (RuntimeError, ValueError, IndexError, codec.PyNvVCException):
            self._decoders.drop(path)
            frames = []  # the host decodes it, or says what is wrong
        # The decoder may use the memory of its frames again, so they are copied.
        places = [wanted.index(number) for number in numbers] if frames else []
        return gathered(frames, places, _WORDS if bits > 8 else _BYTES, frame_bytes, stream)

    def _open(self, path: str) -> Any:
        assert self._stream is not None
        codec = load_codec()
        return codec.SimpleDecoder(
            path,
            gpu_id=self._stream.device_id,
            cuda_stream=self._stream.handle,
            use_device_memory=True,
            output_color_type=codec.OutputColorType.NATIVE,
        )
