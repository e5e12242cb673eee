"""Data of sources that are in the memory of a GPU."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core import _cuda
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_gpu import TensorGPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_list_gpu import TensorListGPU

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream

# Kinds of devices by DLPack: CUDA, and memory that CUDA moves by itself.
_ON_GPU = (2, 13)
_INTERNAL_STREAM = -1


def is_on_device(data: Any) -> bool:
    """Return whether a batch, a sample or the first one of a list is in the memory of a GPU."""
    while isinstance(data, (list, tuple)):
        if not data:
            return False
        data = data[0]
    import numpy

    if isinstance(data, (numpy.ndarray, TensorListCPU, TensorCPU, int, float)):
        return False
    if isinstance(data, (TensorListGPU, TensorGPU)):
        return True
    if hasattr(data, "__dlpack_device__"):
        return int(data.__dlpack_device__()[0]) in _ON_GPU
    return hasattr(data, "__cuda_array_interface__")


def adopted(samples: Sequence[Any], layout: str, stream: Stream) -> TensorListGPU:
    """Take memory of another library, which is complete in the order of a stream, as it is.

    Parameters
    ----------
    samples : sequence
        What has CUDA's array interface; it lives as long as the memory is used.
    layout : str
        Layout of each sample.
    stream : Stream
        The stream, where samples do not tell another one.
    """
    place: dict[str, Any] = {"stream": stream, "device_id": stream.device_id}
    return TensorListGPU([TensorGPU(sample, layout, **place) for sample in samples], "", False)


def copied_on_device(data: Any, layout: str, cuda_stream: Any) -> TensorListGPU:
    """Copy a batch on its device, in the order of the stream that works on it.

    The stream waits for the copy, so what it does next may overwrite the data. Where no stream is
    known, the caller waits.

    Parameters
    ----------
    data : object
        A batch, or a list of samples.
    layout : str
        Layout of each sample; empty for that of the data.
    cuda_stream : object
        The stream: a handle, or a stream object of any library; None for the one that the data
        tell, as those of CuPy do, or the current one of PyTorch, if they are from there; -1 for one
        that nobody else has.
    """
    batch = TensorListGPU(data, layout or None, contiguous=False)
    if len(batch) == 0:
        return batch
    device = batch.device_id()
    sample = data[0] if isinstance(data, (list, tuple)) else data
    stream = _stream_of(sample, cuda_stream, device)
    copying: Stream = _cuda.load("tensor_memory").side_stream(device)
    if stream is not None:
        copying.wait(stream)
    result = copy.deepcopy(batch)
    if stream is not None:
        stream.wait(copying)
    elif not isinstance(sample, (TensorListGPU, TensorGPU)):  # which nobody overwrites
        result.synchronize()
    return result


def _stream_of(sample: Any, cuda_stream: Any, device: int) -> Stream | None:
    """Find the stream that works on a sample; None if that is not known."""
    if cuda_stream is None and type(sample).__module__.partition(".")[0] == "torch":
        # The library is loaded, since it has made the data. It does not tell the stream otherwise.
        cuda_stream = sys.modules["torch"].cuda.current_stream(device)
    elif cuda_stream is None and not isinstance(sample, (TensorListGPU, TensorGPU)):
        cuda_stream = getattr(sample, "__cuda_array_interface__", {}).get("stream")
    if cuda_stream is None or (isinstance(cuda_stream, int) and cuda_stream == _INTERNAL_STREAM):
        return None
    stream: Stream = _cuda.load("stream").Stream.wrap(cuda_stream, device)
    return stream
