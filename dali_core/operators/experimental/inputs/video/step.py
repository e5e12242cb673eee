"""The step behind `fn.experimental.inputs.video`: divides videos that were fed into sequences."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np

from dali_core._runtime.device_data import is_on_device
from dali_core._runtime.finalizer import Finalizer
from dali_core._runtime.step import FedStep, StatefulStep, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.errors import ArgumentTypeError, GraphError
from dali_core.operators.external_source.fed import FedBatches
from dali_core.operators.video.index_builders import build_indices
from dali_core.operators.video.worker.packed_index import PackedIndex


class FedVideosStep(FedStep, StatefulStep):
    """Returns sequences of the videos that were fed, and never two videos in a batch.

    Each video is in an anonymous file in memory (a memfd), so that the decoders of a sequence
    continue where those of the one before have stopped, and no file is left however the program
    ends. The native operator truncates a file when all its sequences are decoded.

    Parameters
    ----------
    arguments : dict
        Checked arguments.
    """

    is_fed = True

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._length = int(arguments["sequence_length"])
        self._fed = FedBatches(1, False, arguments["blocking"])
        self._files: list[int] = []
        Finalizer(self, _close_here, self._files, os.getpid())
        self._num_videos = 0
        self._given: tuple[tuple[int, int], list[Any]] | None = None
        self._num_bytes = self._num_frames = self._num_sequences = self._next = 0

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Return the next sequences of the video that has begun, or of the next one."""
        key = context.epoch, context.iteration
        if self._given is not None and self._given[0] == key:  # an interrupted call is repeated
            return [StepOutput(TensorListCPU(self._given[1], contiguous=False))]
        if self._next >= self._num_sequences:
            self._begin(context)
        last = min(self._next + max(context.batch_size, 1), self._num_sequences)
        # In the order of `Sequence` in video.cpp.
        samples = [
            np.array(
                [
                    sequence * self._length,
                    min(self._length, self._num_frames - sequence * self._length),
                    self._num_sequences,
                    self._num_videos - 1,
                    self._files[-1],
                    self._num_bytes,
                ],
                np.int64,
            )
            for sequence in range(self._next, last)
        ]
        given = key, samples
        self._next = last
        self._given = given
        return [StepOutput(TensorListCPU(samples, contiguous=False))]

    def copied(
        self, data: Any, layout: str, cuda_stream: Any = None, output: int = 0
    ) -> list[bytes]:
        """Return copies of videos (see `Pipeline.feed_input`)."""
        if output != 0:
            raise GraphError("Pipeline.feed_input: the operator has one input (got another one).")
        if is_on_device(data):
            raise ArgumentTypeError(
                "Pipeline.feed_input: videos must be on the host (got data on a GPU). Copy them."
            )
        if getattr(data, "ndim", None) == 1:
            data = [data]
        videos = []
        for video in TensorListCPU(data, layout or None, contiguous=False):
            array = np.asarray(video)
            is_row = array.size > 0 and max(array.shape, default=0) == array.size
            if array.dtype != np.uint8 or not is_row:
                raise ArgumentTypeError(
                    "Pipeline.feed_input: a video must be an array of uint8 in one dimension (got "
                    f"{array.dtype} of shape {array.shape}). Pass its bytes."
                )
            videos.append(array.tobytes())
        return videos

    def feed(self, batch: list[bytes], output: int = 0) -> None:
        """Hand over videos, as `copied` returned them."""
        for video in batch:
            self._fed.put(output, video)

    def discard(self) -> None:
        """Drop all that was fed and not taken."""
        self._fed.discard()
        self._given = None
        self._forget()

    def state(self) -> None:
        """Return nothing: what was fed is not kept."""

    def restore(self, state: Any) -> None:
        """Discard the data that was fed: it belongs to batches that will not be computed."""
        self._fed.restore(state)
        self._given = None
        self._forget()

    def _forget(self) -> None:
        self._num_bytes = self._num_frames = self._num_sequences = self._next = 0

    def _begin(self, context: StepContext) -> None:
        self._forget()
        (content,) = self._fed.take(context)
        emptied = [file for file in self._files if os.fstat(file).st_size == 0]
        self._files[:] = [file for file in self._files if file not in emptied]
        _close(emptied)
        file = os.memfd_create("dali_core fed video")
        self._files.append(file)
        self._num_videos += 1
        self._num_bytes = len(content)
        with open(file, "wb", closefd=False) as stream:
            stream.write(content)
        (index,) = build_indices([f"/proc/self/fd/{file}"], progress=False, descriptors=[file])
        # A file that is no video counts as one sequence, whose decoding raises the error.
        self._num_frames = len(index.pts) if isinstance(index, PackedIndex) else 1
        self._num_sequences = -(-self._num_frames // self._length)


def _close(files: list[int]) -> None:
    """Close files, and free their memory even where other descriptors of them are open."""
    while files:
        file = files.pop()
        with contextlib.suppress(OSError):
            os.ftruncate(file, 0)
        os.close(file)


def _close_here(files: list[int], process: int) -> None:
    """Close files at the end of the process that made them; a fork has them, too."""
    if os.getpid() == process:
        _close(files)
