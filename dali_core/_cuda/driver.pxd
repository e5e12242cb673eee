from cuda.bindings cimport cydriver


cdef int use_driver() except -1
cdef int check(cydriver.CUresult status, const char* doing) except -1
cdef int check_device(cydriver.CUresult status, const char* doing, int device) except -1
cdef int enter_device(int device) except -1
cdef int leave_device() except -1
# For threads without the GIL; a device must have been entered with it once before.
cdef cydriver.CUresult enter_known_device(int device) noexcept nogil
cdef void leave_known_device() noexcept nogil
