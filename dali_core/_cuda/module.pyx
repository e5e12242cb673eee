# cython: annotation_typing=False
"""Kernels: the library's compiled modules, loaded at their first use, and launches of them."""

import ctypes
import gzip
import importlib.resources
import json

from cuda.bindings cimport cydriver
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from dali_core._cuda.device_state cimport DeviceState
from dali_core._cuda.device_work cimport DeviceWork, KernelLaunch, MemoryCopy
from dali_core._cuda.driver cimport check_device, device_state, enter_device, leave_device
from dali_core._cuda.driver import compute_capability
from dali_core._cuda.stream cimport Stream
from dali_core.errors import ArgumentTypeError, ArgumentValueError, CudaError

cdef enum:
    MAX_ARGUMENTS = 16
    MAX_ARGUMENT_BYTES = 256
    LOG_BYTES = 4096

# Folders with modules: `<stem>.sm_<capability>.cubin.gz`, `<stem>.ptx.gz`, and the list
# `kernels.json` of kernels with their stems.
folders = [importlib.resources.files("dali_core._cuda").joinpath("cubins")]

cdef dict _stems = {}


def load_kernel(str name, int device_id) -> None:
    """Load the module that has a kernel on a device, unless that has happened.

    Parameters
    ----------
    name : str
        Name of the kernel.
    device_id : int
        Number of the device.

    Raises
    ------
    CudaError
        If there is no such kernel, or none for this device.
    """
    cdef shared_ptr[DeviceState] state = device_state(device_id)
    cdef cydriver.CUmodule module
    cdef cydriver.CUfunction function = NULL
    cdef bytes encoded = name.encode()
    cdef const char* kernel = encoded
    cdef cydriver.CUresult status
    if state.get().has_kernel(kernel):
        return
    folder, stem = _place_of(name)
    enter_device(device_id)
    try:
        module = _load_module(state.get(), folder, stem)
        with nogil:
            status = cydriver.cuModuleGetFunction(&function, module, kernel)
        check_device(status, b"looking up kernel '" + encoded + b"'", device_id)
    finally:
        leave_device()
    state.get().add_kernel(encoded, function)


def launch_kernel(
    str name,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Any],
    Stream stream,
    int shared_bytes=0,
) -> None:
    """Launch a kernel.

    Parameters
    ----------
    name : str
        Name of the kernel.
    grid, block : sequence of int
        Up to three extents each.
    arguments : sequence of object
        What the kernel takes, each as ctypes has it, such as ``ctypes.c_float(0.5)`` or a
        structure; addresses as ``ctypes.c_void_p``.
    stream : Stream
        Where to launch it.
    shared_bytes : int
        Bytes of shared memory.
    """
    cdef KernelLaunch call
    cdef bytes encoded = name.encode()
    cdef bytes content
    cdef size_t offset = 0
    cdef size_t alignment
    if not (1 <= len(grid) <= 3 and 1 <= len(block) <= 3):
        raise ArgumentValueError(
            f"launch_kernel: grid and block must have one to three extents (got {grid}, {block})."
        )
    if len(arguments) > MAX_ARGUMENTS:
        raise ArgumentValueError(
            f"launch_kernel: arguments must be at most {MAX_ARGUMENTS} (got {len(arguments)}). "
            "Put some into a structure."
        )
    call.kernel = encoded
    call.shared_bytes = shared_bytes
    for i in range(len(grid)):
        call.grid[i] = grid[i]
    for i in range(len(block)):
        call.block[i] = block[i]
    for argument in arguments:
        try:
            view = memoryview(argument).cast("B")
            alignment = ctypes.alignment(argument)
        except TypeError as error:
            raise ArgumentTypeError(
                f"launch_kernel: arguments must be objects of ctypes (got {argument!r}). Wrap "
                "them, as in ctypes.c_int(3)."
            ) from error
        offset = (offset + alignment - 1) // alignment * alignment
        if offset + len(view) > MAX_ARGUMENT_BYTES:
            raise ArgumentValueError(
                f"launch_kernel: arguments must have at most {MAX_ARGUMENT_BYTES} bytes together "
                f"(got {arguments!r}). Pass larger ones in the device's memory."
            )
        content = view.tobytes()
        memcpy(&call.bytes[offset], <const char*>content, len(content))
        call.offsets[call.num_arguments] = offset
        call.num_arguments += 1
        offset += len(content)
    launch(call, stream)


cdef int launch(const KernelLaunch& call, Stream stream) except -1:
    """Queue a kernel."""
    cdef DeviceState* device = stream.state.get().device.get()
    cdef cydriver.CUresult status
    _make_ready(call, device)
    enter_device(stream.device_id)
    try:
        with nogil:
            status = _launch(call, device, stream.stream)
        _check_launch(status, call, stream.device_id)
    finally:
        leave_device()
    return 0


cdef int run_work(DeviceWork& work, Stream stream, list marks=None) except -1:
    """Queue all that a stage has to do: uploads, launches, downloads."""
    cdef DeviceState* device = stream.state.get().device.get()
    cdef cydriver.CUresult status
    cdef size_t number = 0
    try:
        for number in range(work.launches.size()):
            _make_ready(work.launches[number], device)
        enter_device(stream.device_id)
        try:
            if marks is not None:
                _mark(marks, "", 0, stream)
            with nogil:
                status = _copy(work.uploads, stream.stream)
            check_device(status, b"queueing a copy to it", stream.device_id)
            if marks is not None:
                _mark_copies(marks, "copy to the device", work.uploads, stream)
            number = 0
            with nogil:
                while number < work.launches.size():
                    status = _launch(work.launches[number], device, stream.stream)
                    if status != cydriver.CUDA_SUCCESS:
                        break
                    if marks is not None:
                        with gil:
                            name = (<bytes>work.launches[number].kernel).decode()
                            _mark(marks, name, 0, stream)
                    number += 1
            if status != cydriver.CUDA_SUCCESS:
                _check_launch(status, work.launches[number], stream.device_id)
            with nogil:
                status = _copy(work.downloads, stream.stream)
            check_device(status, b"queueing a copy from it", stream.device_id)
            if marks is not None:
                _mark_copies(marks, "copy from the device", work.downloads, stream)
        finally:
            leave_device()
    finally:
        with nogil:
            work.scratch.clear()
    return 0


cdef int _mark(list marks, str name, size_t num_bytes, Stream stream) except -1:
    marks.append((name, num_bytes, stream.record_time()))
    return 0


cdef int _mark_copies(
    list marks, str name, const vector[MemoryCopy]& copies, Stream stream
) except -1:
    cdef size_t i, num_bytes = 0
    for i in range(copies.size()):
        num_bytes += copies[i].bytes
    if num_bytes:
        _mark(marks, name, num_bytes, stream)
    return 0


cdef int _make_ready(const KernelLaunch& call, DeviceState* device) except -1:
    if not device.has_kernel(call.kernel):
        load_kernel((<bytes>call.kernel).decode(), device.number)
    return 0


cdef cydriver.CUresult _copy(
    const vector[MemoryCopy]& copies, cydriver.CUstream stream
) noexcept nogil:
    cdef cydriver.CUresult status
    cdef size_t i
    for i in range(copies.size()):
        if copies[i].bytes == 0:
            continue
        status = cydriver.cuMemcpyAsync(
            <cydriver.CUdeviceptr>copies[i].to, <cydriver.CUdeviceptr>copies[i].from_,
            copies[i].bytes, stream,
        )
        if status != cydriver.CUDA_SUCCESS:
            return status
    return cydriver.CUDA_SUCCESS


cdef cydriver.CUresult _launch(
    const KernelLaunch& call, DeviceState* device, cydriver.CUstream stream
) noexcept nogil:
    cdef void* arguments[16]
    cdef int i
    for i in range(call.num_arguments):
        arguments[i] = <void*>&call.bytes[call.offsets[i]]
    return cydriver.cuLaunchKernel(
        device.kernel_to_launch(call.kernel),
        call.grid[0], call.grid[1], call.grid[2],
        call.block[0], call.block[1], call.block[2],
        call.shared_bytes, stream, arguments, NULL,
    )


cdef int _check_launch(cydriver.CUresult status, const KernelLaunch& call, int device) except -1:
    if status != cydriver.CUDA_SUCCESS:
        doing = (
            f"launching kernel {(<bytes>call.kernel).decode()!r} with a grid of "
            f"{(call.grid[0], call.grid[1], call.grid[2])} and blocks of "
            f"{(call.block[0], call.block[1], call.block[2])} threads"
        ).encode()
        check_device(status, doing, device)
    return 0


cdef tuple _place_of(str name):
    """Find the folder and the stem of the module that has a kernel."""
    if name not in _stems:
        for folder in folders:
            listing = folder.joinpath("kernels.json")
            if listing.is_file():
                for kernel, stem in json.loads(listing.read_text("utf-8")).items():
                    _stems[kernel] = (folder, stem)
    if name not in _stems:
        raise CudaError(
            f"CUDA: kernel {name!r} must be among those that this library was built with (got "
            f"{len(_stems)} others). Install a build with device code."
        )
    return _stems[name]


cdef cydriver.CUmodule _load_module(DeviceState* state, object folder, str stem) except NULL:
    cdef bytes key = f"{stem}@{folder}".encode()
    cdef cydriver.CUmodule module = state.find_module(key)
    if module is not NULL:
        return module
    name, image = _image_for(folder, stem, compute_capability(state.number))
    cdef const char* begin = image
    cdef cydriver.CUresult status
    cdef bytearray log = bytearray(LOG_BYTES)
    cdef char* log_begin = log
    cdef cydriver.CUjit_option options[2]
    cdef void* values[2]
    options[0] = cydriver.CU_JIT_ERROR_LOG_BUFFER
    values[0] = log_begin
    options[1] = cydriver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
    values[1] = <void*><uintptr_t>(LOG_BYTES - 1)
    with nogil:
        status = cydriver.cuModuleLoadDataEx(&module, begin, 2, options, values)
    text = log.partition(b"\0")[0].decode(errors="replace").strip()
    doing = f"loading module {name}{f' (the compiler says: {text})' if text else ''}".encode()
    check_device(status, doing, state.number)
    if not state.add_module(key, module):
        # Another thread was quicker.
        cydriver.cuModuleUnload(module)
        module = state.find_module(key)
    return module


cdef tuple _image_for(object folder, str stem, tuple capability):
    """Choose the newest machine code that the device runs, or what the driver can compile."""
    fitting = {}
    for file in folder.iterdir():
        if file.name.startswith(f"{stem}.sm_") and file.name.endswith(".cubin.gz"):
            number = int(file.name[len(stem) + 4:-len(".cubin.gz")])
            if number // 10 == capability[0] and number % 10 <= capability[1]:
                fitting[number] = file
    chosen = fitting[max(fitting)] if fitting else folder.joinpath(f"{stem}.ptx.gz")
    if not chosen.is_file():
        raise CudaError(
            f"CUDA: module {stem} must have code for compute capability "
            f"{capability[0]}.{capability[1]} (got none). Build dali_core for this device."
        )
    return chosen.name[:-len(".gz")], gzip.decompress(chosen.read_bytes())
