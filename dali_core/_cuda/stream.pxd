from cuda.bindings cimport cydriver
from libcpp.memory cimport shared_ptr

from dali_core._cuda.device_state cimport DeviceState, StreamState


cdef class Stream:
    cdef object __weakref__
    cdef shared_ptr[StreamState] state
    cdef cydriver.CUstream stream
    cdef readonly int device_id
    cdef readonly int priority
    cdef int _wait_for_everything(self) noexcept


cdef class Event:
    cdef object __weakref__
    cdef shared_ptr[DeviceState] state
    cdef cydriver.CUevent event
    cdef bint is_timed
    cdef int record(self, Stream stream) except -1


# For any thread, without the GIL, in the device's context.
cdef cydriver.CUresult take_event(DeviceState* state, cydriver.CUevent* event) noexcept nogil
cdef void give_event(DeviceState* state, cydriver.CUevent event) noexcept nogil
cdef cydriver.CUstream plain_stream(cydriver.CUstream stream) noexcept nogil
