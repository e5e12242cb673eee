from dali_core._cuda.device_work cimport DeviceWork, KernelLaunch
from dali_core._cuda.stream cimport Stream


cdef int launch(const KernelLaunch& call, Stream stream) except -1
# Uploads, launches, downloads, in the order of the stream; then releases `work.scratch`. The owner
# of `work` keeps its copies' memory until the stream has completed them. `marks`, if it is not
# None, gets (name, bytes, timed event) of each kernel and group of copies, after one of their
# begin.
cdef int run_work(DeviceWork& work, Stream stream, list marks=*) except -1
