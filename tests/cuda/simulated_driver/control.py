"""Control of the simulated driver by tests, in a process that has loaded it.

See Also
--------
tests.cuda.simulated_driver.run_simulated : starts such a process.
"""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@functools.cache
def _library() -> ctypes.CDLL:
    # The library that cuda-bindings loads.
    library = ctypes.CDLL("libcuda.so.1")
    library.simulated_fail.argtypes = [
        *(ctypes.c_char_p, ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong, ctypes.c_int),
    ]
    library.simulated_error.argtypes = [ctypes.c_char_p]
    library.simulated_counts.argtypes = [ctypes.c_int]
    library.simulated_set_delay.argtypes = [ctypes.c_double]
    library.simulated_set_stream_delay.argtypes = [ctypes.c_void_p, ctypes.c_double]
    library.simulated_hold.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.simulated_set_memory_limit.argtypes = [ctypes.c_int, ctypes.c_ulonglong]
    library.simulated_capture.argtypes = [ctypes.c_int]
    for name in ("capture", "counts", "functions", "live"):
        getattr(library, f"simulated_{name}").restype = ctypes.c_char_p
    return library


def _numbers(text: bytes) -> dict[str, int]:
    numbers: dict[str, int] = json.loads(text)
    return numbers


def fail(
    function: str, error: str, *, after: int = 0, times: int = 1, sticky: bool = False
) -> None:
    """Make calls of a function of the driver fail.

    Parameters
    ----------
    function : str
        Its name without version, such as ``cuMemAllocAsync``; ``kernel`` for a failure during the
        execution of a kernel, which is always sticky.
    error : str
        The name of the code, such as ``CUDA_ERROR_OUT_OF_MEMORY``.
    after : int
        Number of calls that succeed before.
    times : int
        Number of calls that fail; 0 for none, which cancels an earlier request.
    sticky : bool
        Whether everything in the current context fails from then on, until its device is reset.

    Raises
    ------
    ValueError
        If the function or the error is not known.
    """
    library = _library()
    number = library.simulated_error(error.encode())
    if not library.simulated_fail(function.encode(), number, after, times, sticky):
        raise ValueError(
            f"fail: needs a function and an error that exist (got {function}, {error})."
        )


def counts() -> dict[str, int]:
    """Return the calls of each function, by name without version; ``kernel`` counts kernels."""
    return _numbers(_library().simulated_counts(0))


def device_wide() -> dict[str, int]:
    """Return, by function, the number of calls that synchronize with a device, or may do so.

    These are ``cuCtxSynchronize``, waiting for the legacy stream, copies and fills that are not
    asynchronous, and allocating and freeing memory that is not in a pool.
    """
    return _numbers(_library().simulated_counts(1))


def pageable() -> dict[str, int]:
    """Return, by function, the number of asynchronous copies from or to pageable memory."""
    return _numbers(_library().simulated_counts(2))


def functions() -> set[str]:
    """Return the names of all functions of the driver."""
    return set(_numbers(_library().simulated_functions()))


def live() -> dict[str, int]:
    """Return the numbers of live resources.

    Returns
    -------
    dict
        ``allocations`` and ``bytes`` on devices, ``host_allocations`` and ``host_bytes``,
        ``registered`` ranges, ``streams``, ``events``, ``modules``, ``pools``, ``contexts``, and
        ``primary_context_retains``.
    """
    return _numbers(_library().simulated_live())


def set_delay(seconds: float, stream: Any = None) -> None:
    """Delay each copy, fill, kernel and function in all streams, or in one of them.

    Parameters
    ----------
    seconds : float
        The delay; negative to restore that of all streams for one stream.
    stream : int or CUstream, optional
        The stream's handle.
    """
    if stream is None:
        _library().simulated_set_delay(seconds)
    elif _library().simulated_set_stream_delay(int(stream), seconds) != 0:
        raise ValueError(f"set_delay: stream must exist (got {int(stream):#x}).")


@contextmanager
def held(*streams: Any) -> Iterator[None]:
    """Hold streams while the body runs.

    Parameters
    ----------
    *streams : int or CUstream
        Handles; 0, 1 and 2 are default streams of the current context.
    """
    handles = [int(stream) for stream in streams]
    for handle in handles:
        if _library().simulated_hold(handle, 1) != 0:
            raise ValueError(f"held: stream must exist (got {handle:#x}).")
    try:
        yield
    finally:
        for handle in handles:
            _library().simulated_hold(handle, 0)


@contextmanager
def captured() -> Iterator[None]:
    """Behave as if another thread captured a graph in the global mode while the body runs.

    Raises
    ------
    AssertionError
        If a call would have spoiled it. The call has failed, as with the driver.
    """
    _library().simulated_capture(1)
    try:
        yield
    finally:
        spoiled_by = _library().simulated_capture(0).decode()
    assert not spoiled_by, f"{spoiled_by} would have spoiled the capture"


def set_memory_limit(size: int, device: int = 0) -> None:
    """Set how many bytes a device has; allocated memory is not affected."""
    if _library().simulated_set_memory_limit(device, size) != 0:
        raise ValueError(f"set_memory_limit: device must exist (got {device}).")


def reset() -> None:
    """Reset all counters, delays, requested failures, and held streams."""
    _library().simulated_reset()
