# cython: annotation_typing=False
"""A pipeline's stream on a device, and the pending work in it."""

from collections import deque

from dali_core._cuda.memory cimport host_pool
from dali_core._cuda.device_allocator cimport DeviceAllocator
from dali_core._cuda.driver cimport enter_device, leave_device
from dali_core._cuda.module cimport run_work
from dali_core._cuda.stream cimport Event, Stream
from dali_core._runtime cimport engine
from dali_core._runtime.device_program cimport DeviceProgram
from dali_core._runtime.executor cimport HostPool
from dali_core._runtime.step_task cimport StepTask

from dali_core._cuda.stream_trace import DeviceSpan, StreamTrace
from dali_core.errors import CudaError, OutOfDeviceMemoryError


cdef class _Work:
    """The work of one stage for one batch, and what happens when the device has done it."""

    cdef engine.DevicePlan plan
    cdef Event done
    cdef list marks  # None: no tracing
    cdef object trace
    cdef object iteration

    cdef note(self):
        """Add what is done to the trace, if there is one, once."""
        marks, self.marks = self.marks, None
        if marks is None:
            return
        try:
            self.trace.add(marks, self.iteration)
        except CudaError:
            # The device is broken; taking the batch raises the error.
            pass


cdef class WorkQueue:
    """Runs device programs in a stream of its own.

    Parameters
    ----------
    device_id : int
        The device.
    priority : int
        Priority of the stream; lower numbers go first.
    depth : int
        How many pieces of work may be in the stream at once: as many batches as are in flight,
        with a piece for each stage. Adding another one waits for the first.
    """

    cdef readonly Stream stream
    cdef DeviceAllocator allocator
    cdef object in_flight
    cdef int depth
    cdef object trace

    def __init__(self, int device_id, int priority=0, int depth=2):
        self.stream = Stream(device_id, priority)
        self.allocator = DeviceAllocator(self.stream)
        self.in_flight = deque()
        self.depth = depth

    @property
    def device_id(self) -> int:
        """The device."""
        return self.stream.device_id

    def host_pool(self) -> HostPool:
        """Return the pinned memory, from which copies to the device need not wait."""
        cdef HostPool pool = HostPool.__new__(HostPool)
        pool.pool = host_pool()
        return pool

    def start_trace(self) -> None:
        """Time what is put into the stream from now on. Waits for what is in it.

        On a broken device it does nothing; the next work there raises the error.
        """
        try:
            self.trace = StreamTrace(self.stream)
        except CudaError:
            self.trace = None

    def stop_trace(self) -> list[DeviceSpan]:
        """Wait for the work in the stream, and return when all that was timed has happened."""
        trace, self.trace = self.trace, None
        if trace is None:
            return []
        self._wait_if_it_works()
        self._note(list(self.in_flight))
        return trace.take()

    def run(self, DeviceProgram program, StepTask task) -> tuple[int, int, str, int] | Event:
        """Plan a program for a batch, and put what it does into the stream.

        Parameters
        ----------
        program : DeviceProgram
            The program.
        task : StepTask
            The batch, which gets its values. On the device they are complete after the event, on
            the host now.

        Returns
        -------
        Event or tuple of (int, int, str, int)
            Reached when all is done; or the sample (-1: all), the node, the message and the kind of
            a failure of the operators, with which nothing has happened on the device.

        Raises
        ------
        OutOfDeviceMemoryError
            If the device has no more memory.
        CudaError
            If the driver refuses the work.
        """
        cdef _Work work = _Work()
        # Once for all that follows.
        enter_device(self.stream.device_id)
        try:
            return self._run(program, task, work)
        finally:
            leave_device()

    cdef object _run(self, DeviceProgram program, StepTask task, _Work work):
        cdef engine.Batch* batch = task.task.batch.get()
        cdef engine.DeviceMemory* memory = <engine.DeviceMemory*>self.allocator.memory()
        self._forget_done()
        with nogil:
            program.program.get().plan(batch[0], memory[0], work.plan)
        if work.plan.failed:
            message = work.plan.failure.message.decode(errors="replace")
            if work.plan.device_failed:
                raise (OutOfDeviceMemoryError if work.plan.out_of_memory else CudaError)(message)
            return (work.plan.failure.sample, work.plan.failure.node, message,
                    <int>work.plan.failure.kind)
        try:
            trace = self.trace
            if trace is not None:
                work.trace, work.iteration, work.marks = trace, task.batch.iteration, []
            run_work(work.plan.work, self.stream, work.marks)
        except BaseException:
            # What the copies read must stay until the stream has completed them.
            self._wait_if_it_works()
            raise
        work.done = self.stream.record()
        self.in_flight.append(work)
        if not work.plan.work.downloads.empty():
            work.done.synchronize()
        return work.done

    def close(self) -> None:
        """Wait for the work, and release what it reads."""
        if self.in_flight:
            self._wait_if_it_works()
            self._note(list(self.in_flight))
            self.in_flight.clear()

    cdef _wait_if_it_works(self):
        try:
            self.stream.synchronize()
        except CudaError:
            # Nothing is left to wait for, and the caller that queued the work has got the error.
            pass

    cdef _forget_done(self):
        cdef _Work first
        while self.in_flight:
            first = self.in_flight[0]
            if len(self.in_flight) >= self.depth:
                first.done.synchronize()
            elif not first.done.is_done():
                break
            self._note([self.in_flight.popleft()])

    cdef _note(self, list done):
        cdef _Work work
        for work in done:
            work.note()
