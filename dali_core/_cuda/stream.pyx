# cython: annotation_typing=False
"""Streams and events: in which order a device works, and how far it has come."""

from cuda.bindings cimport cydriver
from libc.stdint cimport uintptr_t
from libcpp.memory cimport make_shared, shared_ptr

from dali_core._cuda.device_state cimport DeviceState, PendingFree, StreamState
from dali_core._cuda.driver cimport (
    check_device, device_state, enter_device, enter_state, leave_device, leave_state,
)
from dali_core.errors import ArgumentTypeError, ArgumentValueError

cdef extern from "python_memory.hpp" namespace "dali_core":
    shared_ptr[void] hold_python_object(object owner)


cdef class Stream:
    """A queue of work on a device: what is in it happens in order.

    It does not wait for the default stream, nor that for it. It is destroyed after the last
    reference to it, and to memory from it, is released; work that is in it is still done.

    Parameters
    ----------
    device_id : int
        Number of the device.
    priority : int
        Lower numbers go first, where the device has to choose. What is beyond the device's range
        is moved to its end.
    """

    def __init__(self, int device_id, int priority=0):
        cdef cydriver.CUstream stream = NULL
        cdef cydriver.CUresult status
        cdef int actual = 0
        enter_device(device_id)
        try:
            with nogil:
                status = cydriver.cuStreamCreateWithPriority(
                    &stream, cydriver.CU_STREAM_NON_BLOCKING, priority
                )
            check_device(status, b"creating a stream", device_id)
            try:
                check_device(
                    cydriver.cuStreamGetPriority(stream, &actual),
                    b"asking for a stream's priority", device_id,
                )
                _take_over(self, device_id, stream, True, None)
            except BaseException:
                # If it is in the state already, that has been released and has destroyed it.
                if self.stream is NULL:
                    cydriver.cuStreamDestroy(stream)
                raise
        finally:
            leave_device()
        self.priority = actual

    @staticmethod
    def wrap(stream: Any, int device_id) -> Stream:
        """Use a stream of another library.

        Parameters
        ----------
        stream : object
            A handle, as an int or `ctypes.c_void_p`; None for the default stream; or an object
            that has it: with `__cuda_stream__`, or as PyTorch's, CuPy's or other streams. Objects
            are kept alive for as long as the stream is used here; for a handle, the caller has to
            ensure that.
        device_id : int
            Number of its device.

        Raises
        ------
        ArgumentTypeError
            If it is nothing of that kind.
        ArgumentValueError
            If it belongs to another device, or not to its device's primary context.
        """
        if isinstance(stream, Stream):
            if (<Stream>stream).device_id != device_id:
                raise ArgumentValueError(
                    f"Stream.wrap: stream must belong to device {device_id} (got one of device "
                    f"{stream.device_id}). Pass a stream of the same device."
                )
            return stream
        cdef uintptr_t handle = handle_of(stream)
        cdef cydriver.CUstream foreign = plain_stream(<cydriver.CUstream>handle)
        cdef cydriver.CUcontext context = NULL
        cdef int priority = 0
        cdef shared_ptr[DeviceState] state = device_state(device_id)
        enter_device(device_id)
        try:
            check_device(
                cydriver.cuStreamGetCtx(foreign, &context), b"looking a stream up", device_id
            )
            check_device(
                cydriver.cuStreamGetPriority(foreign, &priority),
                b"asking for a stream's priority", device_id,
            )
        finally:
            leave_device()
        if context != state.get().context:
            raise ArgumentValueError(
                f"Stream.wrap: stream must belong to the primary context of device {device_id} "
                f"(got {stream!r}, of another context). Pass the device that it was made for."
            )
        cdef Stream result = Stream.__new__(Stream)
        _take_over(result, device_id, foreign, False, None if isinstance(stream, int) else stream)
        result.priority = priority
        return result

    @property
    def handle(self) -> int:
        """The driver's handle. The default stream's is 1."""
        return <uintptr_t>self.stream

    @property
    def is_own(self) -> bool:
        """Whether it was made here, and not by another library."""
        return self.state.get().is_own

    def synchronize(self) -> None:
        """Wait until the device has done everything that is in the stream."""
        cdef cydriver.CUresult status
        cdef shared_ptr[StreamState] state = self.state
        enter_device(self.device_id)
        try:
            with nogil:
                status = cydriver.cuStreamSynchronize(state.get().stream)
            check_device(status, b"waiting for a stream", self.device_id)
        finally:
            leave_device()

    def is_idle(self) -> bool:
        """Return whether the device has done everything that is in the stream."""
        cdef cydriver.CUresult status
        enter_device(self.device_id)
        try:
            status = cydriver.cuStreamQuery(self.stream)
            if status == cydriver.CUDA_ERROR_NOT_READY:
                return False
            check_device(status, b"asking how far a stream is", self.device_id)
        finally:
            leave_device()
        return True

    def record(self) -> Event:
        """Return an event that is done when everything that is in the stream by now is done.

        If that fails, everything in the stream is done, since the caller that gets the error may
        free what the device would still read or write.
        """
        cdef Event event
        try:
            event = Event(self.device_id)
            event.record(self)
        except BaseException:
            self._wait_for_everything()
            raise
        return event

    def record_time(self) -> Event:
        """Return a timed event; see `record`. A failure waits for nothing."""
        cdef Event event = Event(self.device_id, is_timed=True)
        event.record(self)
        return event

    cdef int _wait_for_everything(self) noexcept:
        cdef bint is_entered
        with nogil:
            is_entered = enter_state(self.state.get().device.get()) == cydriver.CUDA_SUCCESS
            cydriver.cuStreamSynchronize(self.stream)
            if is_entered:
                leave_state()
        return 0

    def wait(self, other: Event | Stream) -> None:
        """Hold back what comes later until an event, or all that is in another stream, is done.

        The caller does not wait. The other may belong to another device.

        Parameters
        ----------
        other : Event or Stream
            What to wait for.
        """
        cdef cydriver.CUresult status
        if isinstance(other, Stream):
            if (<Stream>other).stream == self.stream and other.device_id == self.device_id:
                return
            other = other.record()
        if not isinstance(other, Event):
            raise ArgumentTypeError(
                f"Stream.wait: other must be an Event or a Stream (got {other!r}). Wrap streams of "
                "other libraries with Stream.wrap."
            )
        cdef Event event = other
        enter_device(self.device_id)
        try:
            with nogil:
                status = cydriver.cuStreamWaitEvent(self.stream, event.event, 0)
            check_device(status, b"making a stream wait", self.device_id)
        finally:
            leave_device()

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.handle)

    def __repr__(self) -> str:
        return f"Stream(device_id={self.device_id}, handle={self.handle:#x})"


cdef class Event:
    """A place in a stream, which the device reaches at some time.

    Parameters
    ----------
    device_id : int
        Number of the device whose streams it is recorded in.
    is_timed : bool
        Whether the driver notes when the device reaches it, which takes the device some time.
    """

    def __init__(self, int device_id, bint is_timed=False):
        cdef shared_ptr[DeviceState] state = device_state(device_id)
        cdef cydriver.CUresult status
        self.is_timed = is_timed
        enter_device(device_id)
        try:
            if is_timed:
                status = cydriver.cuEventCreate(&self.event, cydriver.CU_EVENT_DEFAULT)
            else:
                status = take_event(state.get(), &self.event)
            check_device(status, b"creating an event", device_id)
        finally:
            leave_device()
        self.state = state

    def __dealloc__(self):
        if self.state and not self.is_timed:
            give_event(self.state.get(), self.event)
        elif self.state and not self.state.get().is_inherited():
            # The kept events have no times.
            cydriver.cuEventDestroy(self.event)

    @property
    def device_id(self) -> int:
        """Number of the device."""
        return self.state.get().number

    cdef int record(self, Stream stream) except -1:
        cdef cydriver.CUresult status
        enter_device(stream.device_id)
        try:
            with nogil:
                status = cydriver.cuEventRecord(self.event, stream.stream)
            check_device(status, b"recording an event", stream.device_id)
        finally:
            leave_device()
        return 0

    def is_done(self) -> bool:
        """Return whether the device has reached it."""
        cdef int device_id = self.state.get().number
        cdef cydriver.CUresult status
        enter_device(device_id)
        try:
            status = cydriver.cuEventQuery(self.event)
            if status == cydriver.CUDA_ERROR_NOT_READY:
                return False
            check_device(status, b"asking for an event", device_id)
        finally:
            leave_device()
        return True

    def milliseconds_since(self, Event earlier not None) -> float:
        """Return the time between two timed events, both of which the device has reached."""
        cdef int device_id = self.state.get().number
        cdef float elapsed = 0
        enter_device(device_id)
        try:
            check_device(
                cydriver.cuEventElapsedTime(&elapsed, earlier.event, self.event),
                b"asking for the time between two events", device_id,
            )
        finally:
            leave_device()
        return elapsed

    def synchronize(self) -> None:
        """Wait until the device has reached it.

        If that fails, the whole device is waited for, since the caller that gets the error may free
        what it would still read or write.
        """
        cdef int device_id = self.state.get().number
        cdef cydriver.CUresult status
        enter_device(device_id)
        try:
            with nogil:
                status = cydriver.cuEventSynchronize(self.event)
                if status != cydriver.CUDA_SUCCESS:
                    cydriver.cuCtxSynchronize()
            check_device(status, b"waiting for an event", device_id)
        finally:
            leave_device()


cdef uintptr_t handle_of(object stream) except? 0:
    """Return the handle of another library's stream object."""
    if stream is None:
        return 0
    found = stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        version_and_handle = protocol() if callable(protocol) else protocol
        version, found = version_and_handle
        if version != 0:
            raise ArgumentValueError(
                "Stream.wrap: __cuda_stream__ must give version 0 of the protocol (got "
                f"{version}). Pass the stream's handle."
            )
    else:
        # PyTorch, CuPy, others; and what ctypes has.
        for name in ("cuda_stream", "ptr", "handle", "value"):
            if hasattr(stream, name):
                found = getattr(stream, name)
                break
        if found is None:
            return 0
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise ArgumentTypeError(
            "Stream.wrap: stream must be a handle, an object with __cuda_stream__, or a stream of "
            f"PyTorch or CuPy (got {stream!r}, a {type(stream).__name__}). Pass one of these."
        )
    return found


cdef int _take_over(
    Stream result, int device_id, cydriver.CUstream stream, bint is_own, object keep
) except -1:
    cdef shared_ptr[void] kept
    if keep is not None:
        kept = hold_python_object(keep)
    cdef shared_ptr[DeviceState] device = device_state(device_id)
    result.state = make_shared[StreamState](device, stream, is_own, kept, _close_stream)
    result.stream = stream
    result.device_id = device_id
    return 0


cdef void _close_stream(StreamState* state) noexcept nogil:
    """Destroy a stream; the driver does so once its work is done."""
    cdef DeviceState* device = state.device.get()
    cdef PendingFree pending
    cdef bint is_entered
    if device.is_inherited() or not state.is_own:
        return
    # Errors cannot be reported: the driver may have shut down already.
    is_entered = enter_state(device) == cydriver.CUDA_SUCCESS
    if (
        state.has_pending_frees.load()
        and take_event(device, &pending.event) == cydriver.CUDA_SUCCESS
        and (
            cydriver.cuEventRecord(pending.event, state.stream) != cydriver.CUDA_SUCCESS
            or not device.add_pending_free(pending)
        )
    ):
        give_event(device, pending.event)
    cydriver.cuStreamDestroy(state.stream)
    if is_entered:
        leave_state()


cdef cydriver.CUstream plain_stream(cydriver.CUstream stream) noexcept nogil:
    """Return which stream stands for a default stream in all threads.

    That of the thread means another one elsewhere, but it runs in step with the legacy one.
    """
    if <uintptr_t>stream <= 2:
        return <cydriver.CUstream><uintptr_t>1
    return stream


cdef cydriver.CUresult take_event(DeviceState* state, cydriver.CUevent* event) noexcept nogil:
    event[0] = state.take_event()
    if event[0] is not NULL:
        return cydriver.CUDA_SUCCESS
    return cydriver.cuEventCreate(event, cydriver.CU_EVENT_DISABLE_TIMING)


cdef void give_event(DeviceState* state, cydriver.CUevent event) noexcept nogil:
    if not state.is_inherited() and not state.give_event(event):
        cydriver.cuEventDestroy(event)
