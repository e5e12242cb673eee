from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport TensorBase


cdef class TensorGPU(TensorBase):
    # The `dali_core._cuda` stream in whose order the data are computed and may be used.
    cdef object _stream
    # The event after which the data are complete; None if they are.
    cdef object _ready

    cdef vector[engine.Tensor] _alone(self) except *
    cdef object _ordered_before(self, object stream)
    cdef TensorGPU _copied(self)


cdef TensorGPU wrap_device_tensor(
    const engine.Tensor& tensor, bint is_read_only, object stream, object ready
)
cdef tuple third_argument(str where, object data, tuple third, object stream, object device_id)
cdef int raise_on_host(str where) except -1
