"""Data of sources that are in the memory of a GPU."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from dali_core import _cuda
from dali_core._data_types import to_numpy_type
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_gpu import TensorGPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_list_gpu import TensorListGPU

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream

# Kinds of devices by DLPack: CUDA, and memory that CUDA moves by itself.
_ON_GPU = (2, 13)
_INTERNAL_STREAM = -1


class OnDevice:
    """Data of another library on the device, with what their memory needs."""

    def __init__(self, interface: dict[str, Any], *needed: Any) -> None:
        self.__cuda_array_interface__ = interface
        # The memory goes before the stream in whose order it may go: lists are freed from their
        # ends. Code that did so in a __del__ could be ended by Ctrl-C.
        self._needed = list(reversed(needed))


def is_on_device(data: Any) -> bool:
    """Return whether a batch, a sample or the first one of a list is in the memory of a GPU."""
    while isinstance(data, (list, tuple)):
        if not data:
            return False
        data = data[0]
    if isinstance(data, (numpy.ndarray, TensorListCPU, TensorCPU, int, float)):
        return False
    if isinstance(data, (TensorListGPU, TensorGPU)):
        return True
    if hasattr(data, "__dlpack_device__"):
        return int(data.__dlpack_device__()[0]) in _ON_GPU
    return hasattr(data, "__cuda_array_interface__")


def retain_default_pool(device_id: int) -> None:
    """Let the default pool of a device keep the memory that other libraries release there."""
    _cuda.load("memory").retain_default_pool(device_id)


def gathered(
    parts: Sequence[Any], places: Sequence[int], typestr: str, row_bytes: int, stream: Stream
) -> OnDevice:
    """Copy arrays of another library into one, and wait until they are no longer needed.

    Parameters
    ----------
    parts : sequence
        What has DLPack or CUDA's array interface, dense, on the device of the stream.
    places : sequence of int
        For each row of the result, which part it is.
    typestr : str
        Type that the elements of parts must have, such as ``"|u1"``.
    row_bytes : int
        How many bytes a part must have.
    stream : Stream
        In whose order the result is complete.

    Returns
    -------
    OnDevice
        Bytes of shape (rows, row_bytes); of shape (0, 0) if a part is something else.
    """
    tensors = [TensorGPU(part, "", stream=stream) for part in parts]
    dtype = numpy.dtype(typestr)
    fits = all(
        to_numpy_type(tensor.dtype) == dtype
        and math.prod(tensor.shape()) * dtype.itemsize == row_bytes
        for tensor in tensors
    )
    rows, row_bytes = (len(places), row_bytes) if fits else (0, 0)
    memory = _cuda.load("memory")
    buffer = memory.Buffer(stream, rows * row_bytes) if rows else None
    start = 0 if buffer is None else buffer.pointer
    for row in range(rows):
        address = tensors[places[row]].data_ptr()
        memory.copy_pointers(start + row * row_bytes, address, row_bytes, stream)
    if rows:
        stream.record().synchronize()
    interface = {"shape": (rows, row_bytes), "typestr": "|u1", "data": (start, False), "version": 3}
    return OnDevice({**interface, "stream": None}, buffer, stream)


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
        tell, as those of CuPy do, or the current one of PyTorch, if they are from there; -1 for an
        internal one.
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
    elif not isinstance(sample, (TensorListGPU, TensorGPU)):  # which are never overwritten
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
