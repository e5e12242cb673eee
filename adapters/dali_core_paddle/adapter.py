"""Conversion of batches to PaddlePaddle tensors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import paddle

from dali_core.adapters import Adapter
from dali_core.tensors import TensorListGPU


class PaddleAdapter(Adapter):
    """Converts batches to `paddle.Tensor` by DLPack, on their device.

    In static mode, after `paddle.enable_static()`, they are `DenseTensor` objects, which
    `paddle.static.Executor` takes as `feed`.

    PaddlePaddle's current stream of a GPU waits for the data; the host does not.
    """

    name = "paddle"

    def from_tensor(self, tensor: Any) -> Any:
        """Return a tensor that shares the memory of a sample or batch."""
        return paddle.utils.dlpack.from_dlpack(tensor)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as one of `representations`."""
        if kind == "dense" and num_valid < len(batch) and not isinstance(batch, TensorListGPU):
            # Sliced before the conversion, since neither all types nor static mode have slices.
            return self.from_tensor(numpy.asarray(batch.as_tensor())[:num_valid])
        return super().represent(batch, kind, num_valid)

    def stream(self, device_id: int) -> int | None:
        """Return the current stream of PaddlePaddle on a device; None if it has no GPU support."""
        if not paddle.device.is_compiled_with_cuda():
            return None
        with warnings.catch_warnings():
            # Deprecated in favor of a function that does not give the handle.
            warnings.simplefilter("ignore")
            return int(paddle.device.cuda.current_stream(device_id).cuda_stream)


adapter = PaddleAdapter()
