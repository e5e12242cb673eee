"""Conversion of batches to TensorFlow tensors."""

from __future__ import annotations

from typing import Any

import numpy
import tensorflow as tf

from dali_core.adapters import Adapter
from dali_core.errors import AdapterError
from dali_core.tensors import TensorGPU, TensorListGPU


class TensorFlowAdapter(Adapter):
    """Converts batches to eager `tf.Tensor` objects by DLPack, on the host.

    A batch on a GPU is copied to the host: TensorFlow releases imported memory in no order with the
    stream in which its operations read it.

    In addition to ``"dense"`` and ``"list"``, ``"ragged"``: one `tf.RaggedTensor`, which is a copy.
    """

    name = "tensorflow"
    representations = ("dense", "list", "ragged")

    def from_tensor(self, tensor: Any) -> Any:
        """Return a tensor that shares the memory of a sample or batch on the host.

        TensorFlow copies what is not aligned to 64 bytes, which affects single samples only.
        """
        if isinstance(tensor, TensorGPU):
            tensor = tensor.as_cpu()
        return tf.experimental.dlpack.from_dlpack(tensor.__dlpack__())

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as one of `representations`."""
        if kind == "ragged":
            return tf.ragged.stack(super().represent(batch, "list", num_valid))
        if kind == "dense" and num_valid < len(batch):
            # Sliced before the conversion, because slicing a TensorFlow tensor copies.
            return self.from_tensor(on_host(batch.as_tensor())[:num_valid])
        return super().represent(batch, kind, num_valid)


class HostAdapter(Adapter):
    """Converts batches to NumPy views, which `tf.data` takes without copying.

    Parameters
    ----------
    copies_from_gpu : bool
        Whether to copy batches from a GPU; otherwise they are refused.
    """

    name = "tensorflow"
    representations = ("dense",)

    def __init__(self, copies_from_gpu: bool) -> None:
        self._copies_from_gpu = copies_from_gpu

    def from_tensor(self, tensor: Any) -> Any:
        """Return a view of a sample or batch."""
        return on_host(tensor)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return a view of the first `num_valid` samples of a batch."""
        if isinstance(batch, TensorListGPU) and not self._copies_from_gpu:
            raise AdapterError(
                "DALIDataset: outputs of the pipeline must be on the host, where tf.data works "
                "(got one on a GPU). Return output.cpu() from the pipeline, or pass "
                "fail_on_device_mismatch=False to have it copied."
            )
        return self.from_tensor(batch.as_tensor())[:num_valid]


def on_host(tensor: Any) -> Any:
    """Return a tensor as a NumPy array: a view, or a copy if it is on a GPU."""
    return numpy.asarray(tensor.as_cpu() if isinstance(tensor, TensorGPU) else tensor)


adapter = TensorFlowAdapter()
