# cython: annotation_typing=False
"""A step that waits to be run in Python, for one batch."""

cimport cython
from libc.stdint cimport uint64_t
from libcpp.utility cimport move
from libcpp.vector cimport vector
from posix.unistd cimport getpid

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport Batch, Executor, passing
from dali_core._runtime.tensor cimport copy_of
from dali_core._runtime.tensor_list cimport TensorListCPU, wrap_tensors
from dali_core._runtime.tensor_list_gpu cimport TensorListGPU

cdef extern from "exclusive_memory.hpp" namespace "dali_core" nogil:
    bint have_own_memory(const vector[engine.Tensor]& samples) except +


def next_step(
    Executor executor not None, double seconds, Batch until=None, *, bint for_caller=True,
    bint for_others=True, bint comes_again=False,
) -> StepTask | None:
    """Wait for a step to run in Python.

    Parameters
    ----------
    executor : Executor
        What runs the batches.
    seconds : float
        How long to wait.
    until : Batch, optional
        Stop waiting when this batch is done.
    for_caller, for_others : bool
        Whether the steps for the thread that submits batches count, and all the others.
    comes_again : bool
        If it is interrupted, the step is the next one again, even if it is still referenced.
        Only one thread at a time may ask for such steps.

    Returns
    -------
    StepTask or None
        None after `seconds`, when `until` is done, or when the executor is closed.
    """
    cdef StepTask task = StepTask.__new__(StepTask)
    cdef engine.Batch* last = NULL
    cdef engine.StepsFor who = engine.StepsFor.kAll
    if until is not None:
        last = until.batch.get()
    if for_caller != for_others:
        who = engine.StepsFor.kCaller if for_caller else engine.StepsFor.kOthers
    task.number = executor.begin_step(&task.task, seconds, last, who, comes_again)
    if not task.task.batch:
        return None
    task.executor = executor
    task.batch = Batch.__new__(Batch)
    task.batch.batch = task.task.batch
    return task


@cython.no_gc_clear
cdef class StepTask:
    """A step in Python that waits to be run for one batch."""

    def __dealloc__(self):
        # Ctrl-C may strike between fetching a task and running it; the batch must end all the same.
        if self.executor is not None and self.number == 0:
            self.fail(-1, -1, "the step was interrupted")

    @property
    def stage(self) -> int:
        return self.task.stage

    def restrict(self, guards: Sequence[tuple[int, bool]]) -> int:
        """Make the samples the batch for which each given value says what is wanted; count them."""
        self.places = passing(guards, self.task.batch.get()[0])
        return self.places.size()

    def inputs(
        self, values: Sequence[int], last_read: Sequence[int], *, bint copied=False
    ) -> list[TensorListCPU]:
        """Return the batch's values with the given ids.

        Parameters
        ----------
        values : sequence of int
            The ids.
        last_read : sequence of int
            Ids of values with no later reader. Those of them whose memory has no other reference
            may be written; all others are read-only.
        copied : bool
            Whether what may be written is a copy, so that the step can be run once more.
        """
        cdef engine.Batch* batch = self.task.batch.get()
        cdef TensorListCPU tensors
        cdef bint is_own
        cdef vector[engine.Tensor] samples
        cdef size_t i
        cdef list found = []
        for value in values:
            is_own = value in last_read and have_own_memory(batch.values[<size_t>value])
            samples = batch.samples(value, self.places)
            if copied and is_own:
                for i in range(samples.size()):
                    samples[i] = copy_of(samples[i])
            tensors = wrap_tensors(samples, False)
            tensors.is_read_only = not is_own
            found.append(tensors)
        return found

    def set_size(self, int size, first_sample: int | None = None) -> None:
        """Shrink the batch to `size` samples; number them from `first_sample` on, if given."""
        cdef int i
        self.task.batch.get().shrink(size)
        if first_sample is not None:
            for i in range(size):
                self.task.batch.get().keys[i].epoch = 0
                self.task.batch.get().keys[i].sample = <uint64_t>first_sample + i

    def join(self, first_samples: Sequence[int]) -> None:
        """Make rows, whose first samples are given, the samples of the batch when the step ends.

        Outputs that are set from now on have one tensor for each row.
        """
        self.first_samples = first_samples
        self.joins = True

    def set_output(
        self, size_t value, samples: Sequence[Any] | TensorListCPU | TensorListGPU, str layout,
        object stream=None, int origin=-1,
    ) -> None:
        """Store the samples of a value: copies of those on the host, the others as they are.

        Parameters
        ----------
        value : int
            Id of the value.
        samples : sequence of array-like, TensorListCPU or TensorListGPU
            As many as the batch has samples.
        layout : str
            Layout of each sample; empty to keep that of the tensors.
        stream : object
            For samples on a device: where they are used, which is made to wait for them.
        origin : int
            Id of the value whose samples know the files that these are from; -1 if there is none.
        """
        cdef vector[engine.Tensor] tensors
        cdef size_t expected = self.places.size() or <size_t>self.batch.size
        if self.joins:
            expected = self.first_samples.size()
        cdef size_t i, place
        if isinstance(samples, TensorListGPU):
            tensors = (<TensorListGPU>samples).samples
        else:
            samples = samples if isinstance(samples, TensorListCPU) else list(samples)
            tensors = (<TensorListCPU>TensorListCPU(samples, layout, contiguous=False)).samples
        if tensors.size() != expected:
            raise ValueError(f"one tensor is needed for each of the {expected} samples "
                             f"(got {tensors.size()})")
        if isinstance(samples, TensorListGPU):
            (<TensorListGPU>samples)._use_in(stream)
        else:
            self.executor.copy_in(tensors, self.pool_of(value))
        if origin >= 0:
            for i in range(expected):
                place = i if self.places.empty() else <size_t>self.places[i]
                tensors[i].source = self.task.batch.get().values[<size_t>origin][place].source
        if self.joins:  # until then all values have as many samples
            tensors.resize(<size_t>self.batch.size)
        self.task.batch.get().set_value(value, move(tensors), self.places)

    cdef engine.BufferPool* pool_of(self, size_t value) noexcept nogil:
        cdef engine.Batch* batch = self.task.batch.get()
        if batch.pools.empty():
            return NULL
        return batch.pools[value]

    def release(self, values: Sequence[int]) -> None:
        """Release values with no later reader."""
        for value in values:
            self.task.batch.get().values[<size_t>value] = vector[engine.Tensor](
                <size_t>self.batch.size
            )

    def finish(self, releases: Sequence[int] = ()) -> None:
        """Pass the batch on, without its values that have no later reader.

        Does nothing if the step has ended already.
        """
        if not self._is_over():
            self.release(releases)
            self.is_finished = True
            if self.joins:
                self.task.batch.get().join(self.first_samples)
            self.executor.end_step(self.task, self.number)

    def fail(
        self,
        int sample,
        int node,
        str message,
        values: Sequence[int] = (),
        bint is_final=True,
        int kind=0,
    ) -> None:
        """End the batch with an error. Does nothing if the step has ended already.

        Parameters
        ----------
        sample : int
            Index of the sample that failed; -1 if it is the whole batch.
        node : int
            Number of the step's node, or -1.
        message : str
            What went wrong.
        values : sequence of int
            Ids of the inputs, which know the file that the sample came from.
        is_final : bool
            If False, the step continues: another sample will take the place of this one.
        kind : int
            The engine's `FailureKind`.
        """
        cdef engine.SampleFailure failure
        cdef engine.Tensor tensor
        if self._is_over():
            return
        if sample >= 0 and not self.places.empty():
            sample = self.places[<size_t>sample]
        failure.sample = sample
        failure.node = node
        failure.message = message.encode(errors="backslashreplace")
        failure.is_final = is_final
        failure.kind = <engine.FailureKind>kind
        if 0 <= sample < self.batch.size:
            for value in values:
                tensor = self.task.batch.get().values[<size_t>value][sample]
                if tensor.source and failure.source.empty():
                    failure.source = tensor.source.get()[0]
        self.task.batch.get().fail(failure)
        if is_final:
            self.finish()

    cdef bint _is_over(self):
        # In a forked child the threads do not exist and their locks may be held.
        if self.is_finished or getpid() != self.executor.owner_process:
            return True
        # Another task stands for the step if it has come again.
        return self.number != 0 and self.number != self.executor.num_begun
