from cuda.bindings cimport cydriver
from libcpp.memory cimport shared_ptr

from dali_core._cuda.device_state cimport DeviceState


cdef int use_driver() except -1
cdef int check(cydriver.CUresult status, const char* doing) except -1
cdef int check_device(cydriver.CUresult status, const char* doing, int device) except -1
cdef int enter_device(int device) except -1
cdef int leave_device() except -1
cdef shared_ptr[DeviceState] device_state(int device) except *
cdef object states_in_use()
# For any thread, without the GIL.
cdef cydriver.CUresult enter_state(DeviceState* state) noexcept nogil
cdef void leave_state() noexcept nogil
