# cython: annotation_typing=False
"""Consumer-thread statistics: the waits and the work of the thread that takes the batches."""

cimport cython
from libc.stdint cimport int64_t

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport Batch, Executor

from dali_core._runtime.run_times import RunTimes, Waits


@cython.final
cdef class ConsumerCalls:
    """Counts for how long the consumer waited and worked. Called, it is a block for one call.

    Every batch enters it twice, so it is native.

    Parameters
    ----------
    executor : Executor
        What runs the batches.
    ranges : NvtxRanges
        Whether NVTX ranges are wanted.

    Attributes
    ----------
    batches, samples : int
        What was taken.
    queued, found_empty, found_full : int
        Batches that were done when one was asked for, summed over the calls; calls that found none
        of them, and calls that found as many as there may be. Of all batches but the first.
    first_wait, waiting, working, ready : float
        Seconds: see `dali_core.statistics.ConsumerStatistics`.
    """

    cdef readonly int64_t batches
    cdef readonly int64_t samples
    cdef readonly int64_t queued
    cdef readonly int64_t found_empty
    cdef readonly int64_t found_full
    cdef int64_t first_wait_ns, waiting_ns, working_ns, ready_ns
    cdef list calls  # None: no tracing
    cdef Executor executor
    cdef object ranges, range, in_flight
    cdef Batch first
    cdef int64_t entered, left
    cdef int num_new, num_done, capacity
    # Sums over the compute threads: waits of each kind when the last call ended, and in pauses.
    cdef int64_t waits_then[4]
    cdef int64_t paused_waits[4]
    cdef int64_t paused_ns

    def __init__(self, Executor executor not None, ranges: Any):
        self.executor = executor
        self.ranges = ranges
        self.reset()

    def reset(self) -> None:
        """Start counting again."""
        self.batches = self.samples = self.queued = self.found_empty = self.found_full = 0
        self.first_wait_ns = self.waiting_ns = self.working_ns = self.ready_ns = 0
        self.paused_ns = 0
        self.paused_waits[:] = [0, 0, 0, 0]

    def trace(self) -> None:
        """Keep the calls from now on, until they are taken."""
        self.calls = []

    def take_calls(self) -> list[tuple[float, float, int]]:
        """Keep no more calls, and return those that were kept.

        Returns
        -------
        list of (float, float, int)
            Begin and end in seconds of `time.monotonic`, and the number of the batch that was
            taken, or -1 if one was only started.
        """
        calls, self.calls = self.calls, None
        return calls or []

    def begin_loop(self) -> None:
        """Count the time since the last call as a pause, and not as work of the consumer."""
        cdef int64_t before[4]
        cdef int64_t now
        cdef int kind
        if not self.left:
            return
        now = engine.nanoseconds_now()
        before[:] = self.waits_then
        self.note_waits(now)
        if self.batches:
            self.paused_ns += now - self.left
            for kind in range(4):
                self.paused_waits[kind] += self.waits_then[kind] - before[kind]
        self.left = now

    def times_of_pauses(self, times: RunTimes, before: RunTimes) -> RunTimes:
        """Return the time in pauses, and the waits in it; since the last call there is one.

        Parameters
        ----------
        times : RunTimes
            What the threads have done so far.
        before : RunTimes
            What they had done when counting began.
        """
        if not self.batches:
            return RunTimes(0, [], [], [], Waits(0, 0, 0, 0))
        since = max(self.left, <int64_t>before.now)
        waits = [
            paused + now - (then if self.left == since else earlier)
            for paused, now, then, earlier in zip(
                self.paused_waits, times.waits, self.waits_then, before.waits, strict=True
            )
        ]
        return RunTimes(self.paused_ns + times.now - since, [], [], [], Waits(*waits))

    @property
    def first_wait(self) -> float:
        return self.first_wait_ns * 1e-9

    @property
    def waiting(self) -> float:
        return self.waiting_ns * 1e-9

    @property
    def working(self) -> float:
        return self.working_ns * 1e-9

    @property
    def ready(self) -> float:
        return self.ready_ns * 1e-9

    def __call__(
        self, in_flight: Collection[Batch] | None = None, int num_new=0
    ) -> ConsumerCalls:
        """Return the block of a call.

        Parameters
        ----------
        in_flight : collection of Batch, optional
            Batches, of which the call takes the first; by default it only starts some.
        num_new : int
            Number of those that were started because this one is taken, and cannot be done yet.
        """
        self.in_flight = in_flight
        self.num_new = num_new
        return self

    def __enter__(self) -> None:
        in_flight, self.in_flight = self.in_flight, None
        self.first = in_flight[0] if in_flight else None
        if self.ranges.module is not None:
            self.range = self.ranges.around(
                "start a batch" if self.first is None else f"take batch {self.first.iteration}"
            )
            self.range.__enter__()
        self.entered = engine.nanoseconds_now()
        if self.first is not None:
            self.num_done = <int>len(in_flight) - self.executor.count_active()
            self.capacity = <int>len(in_flight) - self.num_new
        if self.left and self.batches:
            self.working_ns += self.entered - self.left

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        cdef Batch first = self.first
        cdef bint was_first = self.batches == 0
        self.first = None
        self.left = engine.nanoseconds_now()
        self.note_waits(self.left)
        if first is not None and kind is None:
            if not was_first:
                self.ready_ns += max(<int64_t>0, self.entered - first.batch.get().done_at)
                self.queued += self.num_done
                self.found_empty += self.num_done <= 0
                self.found_full += 0 < self.capacity <= self.num_done
            self.batches += 1
            self.samples += first.batch.get().size()
        if self.calls is not None:
            iteration = -1 if first is None else first.iteration
            self.calls.append((self.entered * 1e-9, self.left * 1e-9, iteration))
        if was_first:
            self.first_wait_ns += self.left - self.entered
        else:
            self.waiting_ns += self.left - self.entered
        if self.range is not None:
            self.range.__exit__(None, None, None)
            self.range = None

    cdef void note_waits(self, int64_t now):
        """Note how long the compute threads have waited, for what, in the order of `Waits`."""
        cdef engine.Executor* executor = self.executor.executor
        cdef size_t num_threads = executor.num_compute_threads()
        cdef size_t thread
        self.waits_then[:] = [0, 0, 0, 0]
        for thread in range(num_threads):
            self.waits_then[0] += executor.times()[thread].waited(engine.WaitingFor.kConsumer, now)
            self.waits_then[1] += executor.times()[thread].waited(engine.WaitingFor.kSteps, now)
            self.waits_then[2] += executor.times()[thread].waited(engine.WaitingFor.kOthers, now)
            self.waits_then[3] += executor.times()[thread].waited(engine.WaitingFor.kFiles, now)
