# cython: annotation_typing=False
"""Times and events that the threads of an executor have counted."""

from libc.stdint cimport int64_t

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport Executor

from dali_core._runtime.run_times import OperatorTimes, RunTimes, Waits


def run_times(Executor executed not None) -> RunTimes:
    """Return what the threads have done, and how long they waited, since they were started."""
    cdef engine.Executor* executor = executed.executor
    cdef size_t compute = executor.num_compute_threads()
    cdef size_t steps = executor.times().size() - 1
    cdef size_t slot, thread
    cdef size_t num_slots = executor.times()[steps].operators.size()
    cdef int64_t now = engine.nanoseconds_now()
    cdef int64_t consumer = 0, in_steps = 0, others = 0, files = 0
    for thread in range(compute):
        consumer += executor.times()[thread].waited(engine.WaitingFor.kConsumer, now)
        in_steps += executor.times()[thread].waited(engine.WaitingFor.kSteps, now)
        others += executor.times()[thread].waited(engine.WaitingFor.kOthers, now)
        files += executor.times()[thread].waited(engine.WaitingFor.kFiles, now)
    return RunTimes(
        now,
        [_operator_times(executor, slot, 0, compute, False) for slot in range(num_slots)],
        [_operator_times(executor, slot, compute, steps, False) for slot in range(num_slots)],
        [_operator_times(executor, slot, steps, steps + 1, True) for slot in range(num_slots)],
        Waits(consumer, in_steps, others, files),
    )


def trace(Executor executor not None, bint is_traced) -> None:
    """Keep what each thread does from now on, or no longer."""
    cdef size_t thread
    for thread in range(executor.executor.times().size()):
        executor.executor.times()[thread].trace(is_traced)


def take_events(Executor executor not None) -> list[list[tuple[int, int, int, int, int]]]:
    """Take what was kept of each thread: compute threads, those that read ahead, steps.

    Returns
    -------
    list of list of (int, int, int, int, int)
        Begin and end in nanoseconds of `time.monotonic`; the slot of the operator, or
        ``-2`` to ``-5`` for a wait for the consumer, steps, other threads or files; the number
        of the batch and the place of the sample in it, or -1.
    """
    cdef size_t thread
    return [
        [(event.begin, event.end, event.what, event.iteration, event.sample)
         for event in executor.executor.times()[thread].take_events()]
        for thread in range(executor.executor.times().size())
    ]


cdef object _operator_times(
    engine.Executor* executor, size_t slot, size_t first, size_t last, bint is_step
):
    """Add what some threads have done in one operator."""
    cdef int64_t calls, samples = 0, elapsed = 0, processor = 0, bytes_in = 0, bytes_out = 0
    cdef size_t thread
    cdef int i
    cdef const engine.OperatorTimes* times
    durations = [0] * engine.kNumDurationClasses
    for thread in range(first, last):
        times = &executor.times()[thread].operators[slot]
        samples += times.samples.get()
        elapsed += times.nanoseconds.get()
        processor += times.processor_nanoseconds.get()
        bytes_in += times.bytes_in.get()
        bytes_out += times.bytes_out.get()
        for i in range(engine.kNumDurationClasses):
            durations[i] += times.durations[<size_t>i].get()
    calls = sum(durations)
    if not is_step:
        samples = calls
    return OperatorTimes(calls, samples, elapsed, processor, bytes_in, bytes_out, durations)
