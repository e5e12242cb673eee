# cython: annotation_typing=False
"""A batch of tensors in the memory of a GPU: what pipelines give out, and what may be fed in."""

from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.any_tensor cimport AnyTensor
from dali_core._runtime.any_tensor_list cimport AnyTensorList
from dali_core._runtime.tensor_gpu cimport wrap_device_tensor


cdef class TensorListGPU(AnyTensorList):
    """A batch of tensors in the memory of a GPU, with equal element types.

    Attributes
    ----------
    stream : object
        Stream in whose order the data are computed and may be used.
    """

    def device_id(self) -> int:
        """Give the number of the device that has the memory."""
        return self._first().device

    cdef AnyTensor _wrap(self, const engine.Tensor& tensor):
        return wrap_device_tensor(tensor, self.is_read_only, self._stream, self._ready)

    cdef AnyTensorList _empty_part(self):
        return wrap_device_tensors(vector[engine.Tensor](), True, self._stream, self._ready)


cdef TensorListGPU wrap_device_tensors(
    const vector[engine.Tensor]& samples, bint is_contiguous, object stream, object ready
):
    cdef TensorListGPU result = TensorListGPU.__new__(TensorListGPU)
    result.samples = samples
    result.is_contiguous = is_contiguous
    result._stream = stream
    result._ready = ready
    return result
