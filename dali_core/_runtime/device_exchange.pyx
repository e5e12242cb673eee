# cython: annotation_typing=False
"""Memory of devices that other libraries hand over: by DLPack, or by CUDA's array interface."""

from libc.stdint cimport int8_t, uintptr_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport integer_of
from dali_core._runtime.device_memory cimport borrowed, side_stream, stream_of, tensor_memory
from dali_core._runtime.exchange cimport (
    exported_by, import_capsule, is_capsule, set_shape, type_of_numpy,
)
from dali_core.errors import ArgumentTypeError, ArgumentValueError, ExchangeError

cdef extern from "python_memory.hpp" namespace "dali_core":
    shared_ptr[void] hold_python_object(object owner)

# Kinds of devices by DLPack whose memory kernels reach by its address: CUDA, and CUDA managed.
_ON_GPU = (2, 13)
_TO_GPU = (
    "Feed it to a pipeline, whose .gpu() copies it there, or copy it with the library that it is "
    "from"
)


cdef tuple import_on_device(
    object data, object stream, object device_id, engine.Tensor& tensor, bint* is_read_only,
    str where,
):
    """View data on a device as a tensor.

    Returns the stream in whose order the data may be used, and the event after which they are
    complete, or None if they are.
    """
    wanted = integer_of(device_id, f"{where}: device_id")
    if is_capsule(data):
        tensor = import_capsule(data, True, is_read_only)
        check_device(tensor.device, wanted, where)
        # The producer of the capsule has made this stream wait, or the default stream.
        ordered = stream_of(stream, tensor.device)
    elif hasattr(data, "__dlpack__"):
        kind, device = data.__dlpack_device__()
        if int(kind) not in _ON_GPU:
            raise ExchangeError(
                f"{where}: data must be in the memory of a GPU (got {type(data).__name__} on "
                f"DLPack's device {(int(kind), device)}). {_TO_GPU}."
            )
        check_device(device, wanted, where)
        ordered = side_stream(device, None) if stream is None else stream_of(stream, device)
        capsule = exported_by(data, {"stream": ordered.handle})
        tensor = import_capsule(capsule, True, is_read_only)
    elif hasattr(data, "__cuda_array_interface__"):
        return _import_interface(data, stream, wanted, tensor, is_read_only, where)
    else:
        raise ArgumentTypeError(
            f"{where}: data must have __dlpack__ or __cuda_array_interface__ (got "
            f"{type(data).__name__}). {_TO_GPU}."
        )
    tensor.storage = borrowed(tensor, ordered)
    return ordered, ordered.record()


cdef vector[engine.Tensor] adopt_on_device(list samples, object stream, str where) except *:
    """View samples with CUDA's array interface as tensors that are complete in a stream's order.

    They have one owner, so that one event in the stream determines when all may be released.
    """
    cdef vector[engine.Tensor] tensors
    cdef engine.Tensor whole
    cdef bint is_read_only = False
    cdef size_t i
    tensors.resize(len(samples))
    whole.storage = hold_python_object(samples)
    for i in range(tensors.size()):
        device, handle = _parse_interface(
            samples[i], stream.device_id, tensors[i], &is_read_only, where
        )
        if handle is not None:
            stream.wait(stream_of(handle, device))
        if whole.num_bytes() == 0:
            whole.type, whole.shape, whole.data = tensors[i].type, tensors[i].shape, tensors[i].data
    whole.storage = borrowed(whole, stream)
    for i in range(tensors.size()):
        tensors[i].storage = whole.storage
    return tensors


cdef tuple _import_interface(
    object data, object stream, int wanted, engine.Tensor& tensor, bint* is_read_only, str where
):
    device, handle = _parse_interface(data, wanted, tensor, is_read_only, where)
    tensor.storage = hold_python_object(data)
    if handle is None and stream is None:
        ordered, ready = side_stream(device, None), None
    else:
        ordered = stream_of(stream if handle is None else handle, device)
        ready = ordered.record()
    tensor.storage = borrowed(tensor, ordered)
    return ordered, ready


cdef tuple _parse_interface(
    object data, int wanted, engine.Tensor& tensor, bint* is_read_only, str where
):
    """Return the device of data, and the stream that they are complete in; None if they are."""
    import numpy

    interface = data.__cuda_array_interface__
    where = f"{where}: __cuda_array_interface__ of {type(data).__name__}"
    if interface.get("mask") is not None:
        raise ExchangeError(f"{where} must have no mask (got one). Fill in what it hides first.")
    dtype = numpy.dtype(interface["typestr"])
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    dense = [dtype.itemsize]
    for extent in shape[:0:-1]:
        dense.insert(0, dense[0] * extent)
    if strides is not None and 0 not in shape and any(
        extent > 1 and step != expected for extent, step, expected in zip(shape, strides, dense)
    ):
        raise ExchangeError(
            f"{where} must be dense and row-major (got strides {tuple(strides)} for shape {shape})."
            " Make it so first, as ascontiguousarray() does in CuPy."
        )
    if not dtype.isnative:
        raise ExchangeError(
            f"{where} must have the byte order of this machine (got {interface['typestr']!r}). "
            "Convert it first."
        )
    address, is_read_only[0] = interface["data"]
    tensor.type = type_of_numpy(dtype, type(data).__name__)
    set_shape(tensor, shape)
    tensor.data = <void*><uintptr_t>address
    if tensor.num_bytes():
        device = tensor_memory().device_of(address)
        if device < 0:
            raise ExchangeError(
                f"{where} must be in the memory of a GPU (got memory of the host). {_TO_GPU}."
            )
        check_device(device, wanted, where)
    else:
        device = tensor_memory().current_device() if wanted < 0 else wanted
    tensor.device = <int8_t>device
    handle = interface.get("stream")
    if handle == 0:
        raise ArgumentValueError(
            f"{where} must not have stream 0, which is ambiguous (got it). Use 1 for the legacy "
            "default stream, 2 for that of the thread, or None if the data are complete."
        )
    return device, handle


cdef int check_device(int device, object wanted, str where) except -1:
    """Refuse data that are not where the user says, if that is not -1."""
    if wanted not in (-1, device):
        raise ArgumentValueError(
            f"{where}: data must be on device_id {wanted} (got data on device {device}). Leave out "
            "device_id, or copy the data to that device."
        )
    return 0
