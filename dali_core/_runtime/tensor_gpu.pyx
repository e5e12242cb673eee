# cython: annotation_typing=False
"""One tensor in the memory of a GPU: a sample, or a whole batch."""

from dali_core._runtime cimport engine
from dali_core._runtime.any_tensor cimport AnyTensor


cdef class TensorGPU(AnyTensor):
    """A tensor in the memory of a GPU: dense, row-major, with an element type and perhaps a layout.

    Attributes
    ----------
    stream : object
        Stream in whose order the data are computed and may be used.
    """

    def device_id(self) -> int:
        """Give the number of the device that has the memory."""
        return self.tensor.device


cdef TensorGPU wrap_device_tensor(
    const engine.Tensor& tensor, bint is_read_only, object stream, object ready
):
    cdef TensorGPU result = TensorGPU.__new__(TensorGPU)
    result.tensor = tensor
    result.is_read_only = is_read_only
    result._stream = stream
    result._ready = ready
    return result
