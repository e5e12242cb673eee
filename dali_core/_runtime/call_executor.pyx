# cython: annotation_typing=False
"""Runs calls of operators that belong to no pipeline: any prepared plans, on shared threads."""

from libc.stdint cimport uint64_t

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport Batch, Executor, PreparedPlan
from dali_core._runtime.tensor_list cimport TensorListCPU, wrap_tensors

from dali_core._runtime.executor_config import ExecutorConfig
from dali_core.errors import ArgumentValueError


cdef class SampleIds:
    """What the random numbers of the samples of a batch depend on.

    Parameters
    ----------
    keys : sequence of (int, int)
        Epoch and number of each sample.
    step : object
        When they were read: those that are taken from these share it.
    """

    def __init__(self, keys: Sequence[tuple[int, int]], step: object):
        cdef engine.SampleKey key
        self.step = step
        for epoch, sample in keys:
            key.epoch = epoch
            key.sample = sample
            self.keys.push_back(key)

    def __len__(self) -> int:
        return self.keys.size()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        cdef engine.SampleKey key
        for key in self.keys:
            yield key.epoch, key.sample

    def take(self, places: Iterable[int]) -> SampleIds:
        """Return those of the samples at some places of the batch.

        Parameters
        ----------
        places : iterable of int
            The places, none of which is negative.
        """
        cdef SampleIds taken = SampleIds.__new__(SampleIds)
        taken.step = self.step
        for place in places:
            taken.keys.push_back(self.keys.at(<size_t>place))
        return taken


cdef class CallExecutor:
    """Threads for calls of operators.

    Parameters
    ----------
    num_threads : int
        Number of threads.
    num_slots : int
        The most operators and chains that a plan may have.
    """

    def __init__(self, int num_threads, int num_slots):
        self.num_threads = num_threads
        self.num_slots = num_slots
        self.executor = Executor(ExecutorConfig(
            stages=(), outputs=(), num_values=0, num_readers=0, num_threads=num_threads,
            num_slots=num_slots,
        ))

    def start(
        self, PreparedPlan plan, int size, ids: SampleIds | None, draws: Sequence[int],
        inputs: Sequence[tuple[int, TensorListCPU]], bint here
    ) -> Batch:
        """Start to compute a batch.

        Parameters
        ----------
        plan : PreparedPlan
            How to compute it.
        size : int
            Number of its samples.
        ids : SampleIds, optional
            What their random numbers depend on; by default their places in the batch.
        draws : sequence of int
            For each operator of the plan, the number of its call, of 64 bits.
        inputs : sequence of (int, TensorListCPU)
            Values that are known. A list of one sample is the same for all samples of the batch.
        here : bool
            Whether to do all of it in this thread.

        Returns
        -------
        Batch
            The batch, to wait for.
        """
        cdef Batch handle = Batch.__new__(Batch)
        cdef engine.Batch* batch
        cdef TensorListCPU given
        cdef int sample, value
        cdef size_t step
        if plan.plan.get().num_timed > self.num_slots:
            raise ArgumentValueError(
                f"CallExecutor.start: the plan must need at most {self.num_slots} counters (got "
                f"{plan.plan.get().num_timed}). Compute a part of it before."
            )
        self.num_started += 1
        handle.batch = self.executor.made(plan, self.num_started, size)
        batch = handle.batch.get()
        batch.draws.reserve(len(draws))
        for draw in draws:
            batch.draws.push_back(<uint64_t>draw)
        if ids is not None:
            batch.keys = (<SampleIds?>ids).keys
        else:
            for sample in range(size):
                batch.keys[sample].sample = sample
        for value, values in inputs:
            given = <TensorListCPU?>values
            step = 0 if given.samples.size() == 1 else 1
            for sample in range(size):
                batch.give(value, sample, given.samples[sample * step])
        self.executor.start(handle, here)
        return handle

    def wait(self, Batch batch, double seconds) -> bool:
        """Wait until a batch is done; False after some seconds."""
        return self.executor.wait(batch, seconds)

    def outputs(self, Batch batch) -> list[TensorListCPU]:
        """Return the values that the plan of a batch gives, which is done and has not failed."""
        cdef engine.Batch* own = batch.batch.get()
        cdef size_t number
        results = []
        for number in range(engine.outputs_of(own[0]).size()):
            value = engine.outputs_of(own[0])[number]
            results.append(wrap_tensors(
                own.values[<size_t>value], own.contiguous[number] or own.size() == 0
            ))
        return results

    def close(self) -> None:
        """Drop all batches and end the threads. Does nothing twice, or in a forked child."""
        self.executor.close()
