# cython: annotation_typing=False
"""The CUDA driver: its errors, its devices, and the primary context of each device.

A device's primary context is retained at its first use, shared with everything else in the process
that uses CUDA's runtime, and released when the interpreter has ended and the device is unused.
"""

import threading

from cuda.bindings cimport cydriver
from libcpp.memory cimport shared_ptr, weak_ptr
from libcpp.vector cimport vector
from posix.types cimport pid_t
from posix.unistd cimport getpid

from dali_core._cuda.device_state cimport DeviceState
from dali_core._runtime.finalizer import Finalizer
from dali_core.errors import CudaError, CudaUnavailableError, OutOfDeviceMemoryError

cdef extern from "entered_contexts.hpp" namespace "dali_core" nogil:
    cdef cppclass EnteredContexts:
        bint is_innermost(cydriver.CUcontext context)
        void add(cydriver.CUcontext context)
        bint remove()
        int depth
        bint is_changed
        cydriver.CUstreamCaptureMode before

    EnteredContexts& entered_contexts()

cdef enum:
    OLDEST_DRIVER = 12000

# The process that has initialised the driver, or is about to.
cdef pid_t _process = 0
cdef bint _is_ready = False
cdef bint _is_ending = False
cdef object _lock = threading.RLock()

# By number. All users of a device hold a reference, as does this module until the interpreter ends.
cdef vector[shared_ptr[DeviceState]] _held
cdef vector[weak_ptr[DeviceState]] _devices

_INSTALL_DRIVER = (
    "Install NVIDIA's driver, or run on a machine with a GPU; in a container, start that with "
    "access to GPUs. To run on the CPU, use operators with device='cpu'"
)
_SMI = "Check with nvidia-smi that the device and its driver are well"
_RESTART = (
    "Start the process again; to find the cause, run it with CUDA_LAUNCH_BLOCKING=1 or under "
    "compute-sanitizer"
)
_SPAWN = (
    "CUDA does not survive a fork: start processes with the method 'spawn', or use GPUs in the "
    "child only"
)
_REBUILD = "Build dali_core for this device, or install a newer driver"
_CURES = {
    "CUDA_ERROR_OUT_OF_MEMORY": (
        "Use smaller batches, or free memory: dali_core.cuda.release_unused_memory() returns what "
        "is idle here"
    ),
    "CUDA_ERROR_NO_DEVICE": f"{_INSTALL_DRIVER}; see also the variable CUDA_VISIBLE_DEVICES",
    "CUDA_ERROR_NOT_INITIALIZED": _SPAWN,
    "CUDA_ERROR_STUB_LIBRARY": "Remove the toolkit's stub of libcuda from LD_LIBRARY_PATH",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "Restart the machine after the driver's update",
    "CUDA_ERROR_DEVICE_UNAVAILABLE": "Wait for the process that uses the device alone, or end it",
    "CUDA_ERROR_INVALID_HANDLE": "Keep streams alive for as long as tensors are used on them",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": _REBUILD,
    "CUDA_ERROR_INVALID_PTX": _REBUILD,
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": _REBUILD,
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND": "Install the driver with its compiler for PTX",
    "CUDA_ERROR_DEINITIALIZED": "Close pipelines before the process ends",
}
# After these, the driver refuses all work in the context.
_STICKY = frozenset((
    "CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_CONTAINED", "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_LAUNCH_TIMEOUT", "CUDA_ERROR_CONTEXT_IS_DESTROYED", "CUDA_ERROR_ASSERT",
    "CUDA_ERROR_HARDWARE_STACK_ERROR", "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_TENSOR_MEMORY_LEAK",
))
_UNAVAILABLE = frozenset((
    "CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_STUB_LIBRARY", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
    "CUDA_ERROR_SYSTEM_NOT_READY", "CUDA_ERROR_OPERATING_SYSTEM", "CUDA_ERROR_INVALID_DEVICE",
))


def device_count() -> int:
    """Count the devices that this process sees.

    Raises
    ------
    CudaUnavailableError
        If there is no driver, or no device.
    """
    use_driver()
    return _devices.size()


def device_name(int device_id) -> str:
    """Return a device's name, such as ``"NVIDIA H100 80GB HBM3"``."""
    cdef char[256] name
    cdef cydriver.CUdevice device = _device(device_id)
    check_device(
        cydriver.cuDeviceGetName(name, sizeof(name), device), b"asking for its name", device_id
    )
    return (<bytes>(<char*>name)).decode()


def compute_capability(int device_id) -> tuple[int, int]:
    """Return a device's major and minor compute capability, such as ``(9, 0)``."""
    return (
        _attribute(device_id, cydriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        _attribute(device_id, cydriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    )


def current_device() -> int:
    """Return the number of the device whose context is current in this thread."""
    cdef cydriver.CUdevice device = 0
    use_driver()
    check(cydriver.cuCtxGetDevice(&device), b"asking for the current device")
    return device


cdef int use_driver() except -1:
    """Make sure that the driver is there, and initialised by this process."""
    global _process, _is_ready
    if _process != 0 and _process != getpid():
        raise CudaError(
            "CUDA: a process must not use GPUs that its parent used before the fork (got "
            f"process {getpid()}, forked from {_process}). {_SPAWN}.",
            status="CUDA_ERROR_NOT_INITIALIZED",
        )
    if _is_ready:
        return 0
    with _lock:
        if _is_ready:
            return 0
        _process = getpid()
        try:
            _initialise()
        except BaseException:
            _process = 0
            raise
        _is_ready = True
        # Finalisers of pipelines, which are newer, go first.
        Finalizer(_lock, _release_devices)
    return 0


cdef int _initialise() except -1:
    cdef int version = 0
    cdef int count = 0
    cdef cydriver.CUresult status
    try:
        with nogil:
            status = cydriver.cuInit(0)
        check(status, b"initialising the driver")
        check(cydriver.cuDriverGetVersion(&version), b"asking for the driver's version")
        check(cydriver.cuDeviceGetCount(&count), b"counting devices")
    except CudaError:
        raise
    except RuntimeError as error:
        # How cuda-bindings says that there is no library, or no such function in it.
        raise CudaUnavailableError(
            f"CUDA: the driver's library, libcuda.so.1, must be there (got: {error}). "
            f"{_INSTALL_DRIVER}."
        ) from error
    if version < OLDEST_DRIVER:
        raise CudaUnavailableError(
            "CUDA: the driver must be one for CUDA 12.0 or newer, which is version 525 (got one "
            f"for CUDA {version // 1000}.{version % 1000 // 10}). Install a newer driver."
        )
    if count == 0:
        raise CudaUnavailableError(
            f"CUDA: there must be a device (got none). {_CURES['CUDA_ERROR_NO_DEVICE']}."
        )
    _devices.resize(count)
    _held.resize(count)
    return 0


cdef int check(cydriver.CUresult status, const char* doing) except -1:
    """Raise the error that fits, unless the driver was successful."""
    if status == cydriver.CUDA_SUCCESS:
        return 0
    return check_device(status, doing, -1)


cdef int check_device(cydriver.CUresult status, const char* doing, int device) except -1:
    """Raise an error that names the device, and remembers if that is of no use any more.

    `doing` says what was tried: "creating a stream".
    """
    cdef shared_ptr[DeviceState] state
    cdef const char* name_text = NULL
    cdef const char* description = NULL
    if status == cydriver.CUDA_SUCCESS:
        return 0
    if 0 <= device < <int>_devices.size():
        state = _devices[device].lock()
        if state and state.get().is_broken.load():
            raise _error_of_broken(state.get())
    # Without names, the number must do.
    cydriver.cuGetErrorName(status, &name_text)
    cydriver.cuGetErrorString(status, &description)
    name = (<bytes>name_text).decode() if name_text is not NULL else f"CUDA error {<int>status}"
    got = f"{name}, {(<bytes>description).decode()}" if description is not NULL else name
    where = f"CUDA device {device}" if device >= 0 else "CUDA"
    is_sticky = name in _STICKY
    cure = _RESTART if is_sticky else _CURES.get(name, _SMI)
    if is_sticky and state and state.get().last_kernel.load() is not NULL:
        kernel = (<bytes>state.get().last_kernel.load()).decode()
        got += f"; the last kernel launched there is {kernel!r}"
    message = f"{where}: {(<bytes>doing).decode()} must succeed (got {got}). {cure}."
    if is_sticky and state and not state.get().note_failure(message.encode()):
        raise _error_of_broken(state.get())
    if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY:
        raise OutOfDeviceMemoryError(message, status=name)
    if name in _UNAVAILABLE:
        raise CudaUnavailableError(message, status=name)
    raise CudaError(message, status=name)


cdef object _error_of_broken(DeviceState* state):
    """Make the error for all work after the one that broke the device's context."""
    first = state.known_failure().decode()
    return CudaError(
        f"CUDA device {state.number}: work must not follow an error that the driver cannot recover "
        f"from (got one before: {first!r}). Start the process again."
    )


cdef int enter_device(int device) except -1:
    """Make a device's primary context current in this thread, until `leave_device`."""
    cdef shared_ptr[DeviceState] state = device_state(device)
    if state.get().is_broken.load():
        raise _error_of_broken(state.get())
    return check_device(enter_state(state.get()), b"making its context current", device)


cdef int leave_device() except -1:
    """Make current again what was current before `enter_device`."""
    return check(_leave(), b"restoring the context")


cdef cydriver.CUresult enter_state(DeviceState* state) noexcept nogil:
    cdef EnteredContexts* entered = &entered_contexts()
    cdef cydriver.CUresult status = cydriver.CUDA_SUCCESS
    if not entered.is_innermost(state.context):
        status = cydriver.cuCtxPushCurrent(state.context)
    if status != cydriver.CUDA_SUCCESS:
        return status
    if entered.depth == 0:
        entered.before = cydriver.CU_STREAM_CAPTURE_MODE_RELAXED
        entered.is_changed = (
            cydriver.cuThreadExchangeStreamCaptureMode(&entered.before) == cydriver.CUDA_SUCCESS
        )
    entered.add(state.context)
    return status


cdef void leave_state() noexcept nogil:
    _leave()


cdef cydriver.CUresult _leave() noexcept nogil:
    cdef cydriver.CUcontext context
    cdef EnteredContexts* entered = &entered_contexts()
    cdef bint is_pushed = entered.remove()
    if entered.depth == 0 and entered.is_changed:
        cydriver.cuThreadExchangeStreamCaptureMode(&entered.before)
    return cydriver.cuCtxPopCurrent(&context) if is_pushed else cydriver.CUDA_SUCCESS


cdef shared_ptr[DeviceState] device_state(int device) except *:
    """Return what this process holds of a device. The first call retains its context."""
    cdef shared_ptr[DeviceState] state
    cdef cydriver.CUdevice number
    cdef cydriver.CUcontext context = NULL
    cdef cydriver.CUresult status
    use_driver()
    if 0 <= device < <int>_devices.size():
        state = _devices[device].lock()
        if state:
            return state
    number = _device(device)
    with _lock:
        state = _devices[device].lock()
        if state:
            return state
        if _is_ending:
            raise CudaError(
                f"CUDA device {device}: first use must come before the interpreter ends (got it "
                "afterwards). Close pipelines before the program's end."
            )
        with nogil:
            status = cydriver.cuDevicePrimaryCtxRetain(&context, number)
        check_device(status, b"retaining its primary context", device)
        try:
            state.reset(new DeviceState(device, context, _close_device))
        except MemoryError:
            cydriver.cuDevicePrimaryCtxRelease(number)
            raise
        _devices[device] = weak_ptr[DeviceState](state)
        _held[device] = state
    return state


cdef object states_in_use():
    """List the numbers of the devices that this process has used."""
    return [i for i in range(<int>_devices.size()) if _devices[i].lock()]


cdef cydriver.CUdevice _device(int device) except? -1:
    cdef cydriver.CUdevice number = -1
    use_driver()
    if not 0 <= device < <int>_devices.size():
        raise CudaUnavailableError(
            f"CUDA: device_id must be from 0 to {_devices.size() - 1}, since this process sees "
            f"{_devices.size()} (got {device}). Choose one of these, or change "
            "CUDA_VISIBLE_DEVICES."
        )
    check_device(cydriver.cuDeviceGet(&number, device), b"looking it up", device)
    return number


cdef int _attribute(int device, cydriver.CUdevice_attribute attribute) except? -1:
    cdef int value = 0
    cdef cydriver.CUdevice number = _device(device)
    check_device(
        cydriver.cuDeviceGetAttribute(&value, attribute, number), b"asking what it can do", device
    )
    return value


cdef void _close_device(DeviceState* state) noexcept nogil:
    """Release all that belongs to a device's context, after its last use."""
    cdef bint is_entered
    if state.is_inherited():
        return
    # Errors cannot be reported: the driver may have shut down already.
    is_entered = enter_state(state) == cydriver.CUDA_SUCCESS
    cydriver.cuCtxSynchronize()
    state.return_all(_return_event, _return_module, _return_block)
    if state.pool_is_own:
        cydriver.cuMemPoolDestroy(state.pool)
    if state.retained_pool is not NULL:
        cydriver.cuMemPoolSetAttribute(
            state.retained_pool, cydriver.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &state.threshold_before
        )
    if is_entered:
        leave_state()
    cydriver.cuDevicePrimaryCtxRelease(state.number)


cdef void _return_event(cydriver.CUevent event) noexcept nogil:
    cydriver.cuEventDestroy(event)


cdef void _return_module(cydriver.CUmodule module) noexcept nogil:
    cydriver.cuModuleUnload(module)


cdef void _return_block(cydriver.CUdeviceptr pointer) noexcept nogil:
    cydriver.cuMemFree(pointer)


def _release_devices() -> None:
    global _is_ending
    _is_ending = True
    with nogil:
        _held.clear()
