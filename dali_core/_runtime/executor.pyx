# cython: annotation_typing=False
"""Runs the stages of a plan: native threads for sample programs, the caller for steps in Python."""

import _thread

from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector
from posix.unistd cimport getpid

from dali_core._runtime cimport engine
from dali_core._runtime.operator_config cimport (
    described, make_config, make_limits, native_instruction, native_run,
)
from dali_core._runtime.tensor cimport TensorCPU, copy_of
from dali_core._runtime.tensor_gpu cimport TensorGPU
from dali_core._runtime.tensor_list cimport TensorListCPU, wrap_tensors
from dali_core._runtime.tensor_list_gpu cimport TensorListGPU, wrap_device_tensors

from collections import deque

from dali_core._runtime.executor_config import ArgumentLimits, ExecutorConfig, ReaderRun

cdef extern from "arguments.hpp" namespace "dali_core":
    shared_ptr[const engine.Operator] make_operator(const engine.OperatorConfig& config) except +
    vector[string] registered_device_operators() except +
    vector[string] registered_operators() except +
    int chain_role "dali_core::chain_role"(const string& name) except +

cdef extern from "dali_core/simd.hpp" namespace "dali_core" nogil:
    int simd_level "(int)dali_core::simd_level"() except +

cdef extern from "dali_core/native_io/libjpeg/jpeg_decoder.hpp" namespace "dali_core":
    bint has_libjpeg "dali_core::has_libjpeg"()

cdef extern from "operator_library.hpp" namespace "dali_core":
    string abi_text() except +
    vector[string] load_operator_library(const string& path, bint share_symbols) except +


cdef vector[string] native_names(bint on_device) except *:
    return registered_device_operators() if on_device else registered_operators()


cdef vector[string] load_operators(const string& path, bint share_symbols) except *:
    return load_operator_library(path, share_symbols)


cdef string native_abi() except *:
    return abi_text()


cdef int native_role(const string& name) except -1:
    return chain_role(name)


cdef int native_simd() except -1:
    return simd_level()


cdef bint with_libjpeg() except -1:
    return has_libjpeg()


cdef vector[int] passing(const vector[pair[int, cbool]]& rules, const engine.Batch& batch) except *:
    return engine.SampleProgram.passing(rules, batch)


cdef shared_ptr[engine.DeviceProgram] make_device_program(
    const vector[engine.DeviceInstruction]& instructions
) except *:
    return make_shared[engine.DeviceProgram](instructions)


cdef shared_ptr[const engine.DeviceChain] make_device_chain(
    const vector[engine.Instruction]& members
) except *:
    return engine.make_device_chain(members)


cdef class HostPool:
    """Memory of the host that an executor may use besides its own."""


cdef class NativeOperator:
    """An operator's native code, built from checked arguments.

    Parameters
    ----------
    name : str
        Name under which the native code is registered.
    values : dict
        Constant arguments: int, float, str, or lists of one of these.
    tensor_arguments : sequence of str
        Names of the arguments that come with each sample, in the order of the instruction.
    seed : int
        Unsigned 64-bit seed of the operator.
    reader : int
        Which reader it is, or -1.
    num_inputs, num_outputs : int
        Numbers of inputs and outputs.
    limits : sequence of ArgumentLimits
        What values of `tensor_arguments` must be.

    Raises
    ------
    ValueError, RuntimeError
        If the native code refuses the arguments.
    """

    def __init__(self, str name, values: dict[str, Any], tensor_arguments: Sequence[str],
                 uint64_t seed, int reader, int num_inputs, int num_outputs,
                 limits: Sequence[ArgumentLimits] = ()):
        self.reader = reader
        self.limits = make_limits(limits)
        self.op = make_operator(make_config(name, values, tensor_arguments, seed, reader,
                                            num_inputs, num_outputs))


cdef class Batch:
    """A batch in flight; the values of a finished one stay until it is garbage."""

    @property
    def iteration(self) -> int:
        return self.batch.get().iteration

    @property
    def size(self) -> int:
        return self.batch.get().size()

    @property
    def num_samples(self) -> int:
        """The number of samples, from which packing may have made fewer rows."""
        return self.batch.get().num_samples()

    @property
    def cancelled(self) -> bool:
        """Whether the batch was dropped, and will never be done."""
        return self.batch.get().cancelled

    def key(self, int sample) -> tuple[int, int]:
        """Return (epoch, sample id) of a sample."""
        cdef engine.SampleKey key = self.batch.get().keys[sample]
        return key.epoch, key.sample

    def bytes_of(self, int value) -> list[int]:
        """Return the size of a value in each sample; 0 where it never came into being."""
        return list(self.batch.get().bytes_of(value))

    @property
    def done_at(self) -> float:
        """When the batch was done, in seconds of `time.monotonic`; 0 if it is not."""
        return self.batch.get().done_at * 1e-9

    def failures(self) -> list[tuple[int, int, str, str]]:
        """List (sample, node, message, source) of all failures, by sample."""
        return described(self.batch.get().failures())

    def failure_kind(self) -> type[Exception] | None:
        """Return the exception of Python that the first failure is as well, if it is one."""
        kind = self.batch.get().failure_kind()
        if kind == engine.FailureKind.kIndexError:
            return IndexError
        return ValueError if kind == engine.FailureKind.kValueError else None

    def replaced(self) -> list[tuple[int, int, str, str]]:
        """List the bad samples in whose place others are, in the form of `failures`."""
        return described(self.batch.get().replaced())


cdef engine.Plan native_plan(
    object config, vector[shared_ptr[engine.FusionCounts]]& counts
) except *:
    """Describe the stages of an `ExecutorConfig`, and add the counts of its chains."""
    cdef engine.Plan plan
    cdef engine.Stage stage
    cdef engine.Instruction instruction
    cdef vector[engine.Instruction] instructions, members
    cdef NativeOperator op
    plan.outputs = config.outputs
    plan.joined_outputs = config.joined_outputs
    plan.num_joined = 0
    plan.num_values = config.num_values
    plan.num_readers = config.num_readers
    plan.num_io_threads = config.num_io_threads
    plan.replaces_failed = config.replaces_failed
    if config.upload_pool is not None:
        plan.uploaded, plan.upload_pool = config.uploaded, (<HostPool?>config.upload_pool).pool
    for index, description in enumerate(config.stages):
        stage.program.reset()
        stage.is_source, stage.by_caller = index in config.sources, index in config.caller_steps
        stage.node = config.step_nodes.get(index, 0)
        if description is not None:
            instructions.clear()
            read = set()
            for step in description.instructions:
                op = <NativeOperator?>step.operator
                instruction = native_instruction(step, op.reader, read)
                instruction.op = op.op
                instruction.limits = op.limits
                instruction.joined = plan.num_joined if step.joins else -1
                plan.num_joined += step.joins
                instructions.push_back(instruction)
            for number, chain in enumerate([*description.chains, *description.regions]):
                members.clear()
                for i in chain:
                    members.push_back(instructions[<size_t>i])
                slot = config.num_nodes + <int>counts.size()
                is_region = number >= len(description.chains)
                _fuse(instructions[<size_t>chain[0]], members, is_region, slot, counts)
            for number, step in enumerate(description.instructions):
                if step.joint:
                    members.clear()
                    for i in step.joint:
                        members.push_back(instructions[<size_t>i])
                    instructions[<size_t>number].joint = engine.make_chain(members)
                    instructions[<size_t>number].joint_members = step.joint
            stage.program = make_shared[engine.SampleProgram](instructions)
        plan.stages.push_back(stage)
    return plan


cdef int _fuse(
    engine.Instruction& first, const vector[engine.Instruction]& members, bint is_region, int slot,
    vector[shared_ptr[engine.FusionCounts]]& counts
) except -1:
    first.chain_slot = slot
    first.chain = engine.make_region_chain(members) if is_region else engine.make_chain(members)
    first.chain_counts = make_shared[engine.FusionCounts]()
    first.chain_length = <int>members.size()
    counts.push_back(first.chain_counts)
    return 0


cdef class PreparedPlan:
    """Stages that an executor of such plans can run.

    Parameters
    ----------
    config : ExecutorConfig
        The stages: sample programs without readers.
    """

    def __cinit__(self, config: ExecutorConfig):
        self.plan = make_shared[engine.PreparedPlan](native_plan(config, self.chain_counts))


cdef class Executor:
    """Native threads that run batches through stages.

    Parameters
    ----------
    config : ExecutorConfig
        The stages, and how to run them.

    Attributes
    ----------
    iteration : int
        Number of the batch after the one that was submitted last.
    """

    def __cinit__(self, config: ExecutorConfig):
        self.owner_process = getpid()
        self.num_readers = config.num_readers
        self.outputs_on_device = frozenset(config.outputs_on_device)
        if config.num_slots > 0:
            self.executor = new engine.Executor(config.num_threads, config.num_slots)
            return
        plan = native_plan(config, self.chain_counts)
        self.executor = new engine.Executor(plan, config.num_threads, config.set_affinity)

    def __dealloc__(self):
        # In a forked child the threads do not exist and their locks may be held: leave all.
        if self.executor is not NULL and getpid() == self.owner_process:
            with nogil:
                del self.executor

    def submit(
        self,
        int64_t iteration,
        int size,
        readers: Sequence[Sequence[ReaderRun]] = (),
        first_sample: int | None = None,
        given: Sequence[tuple[int, TensorCPU]] = (),
        in_flight: deque[Batch] | None = None,
    ) -> Batch:
        """Start a batch.

        Parameters
        ----------
        iteration, size : int
            Number of the batch, in whose order batches are submitted, and number of its samples.
        readers : sequence of sequence of ReaderRun
            For each reader its samples, together `size`.
        first_sample : int, optional
            Number of the first sample if there is no reader; by default ``iteration * size``.
        given : sequence of (int, TensorCPU)
            Values that are known beforehand, and are the same for all samples.
        in_flight : deque of Batch, optional
            Where to append it. That, submitting it and counting it are one piece: no handler of a
            signal can come in between.

        Returns
        -------
        Batch
            The batch, to wait for.
        """
        cdef Batch handle = Batch.__new__(Batch)
        cdef int reader, sample
        cdef engine.Batch* batch
        cdef vector[engine.ReaderRun] runs
        handle.batch = self.executor.make_batch(iteration, size)
        batch = handle.batch.get()
        for reader in range(self.num_readers):
            runs.clear()
            for described in readers[reader]:
                runs.push_back(native_run(described))
            batch.set_runs(reader, runs)
        if self.num_readers == 0:
            start = iteration * size if first_sample is None else first_sample
            for sample in range(size):
                batch.keys[sample].sample = <uint64_t>start + sample
        for value, tensor in given:
            # Each sample has memory of its own, which its receiver may write to.
            for sample in range(size):
                batch.give(<int>value, sample, copy_of((<TensorCPU?>tensor).tensor))
        if in_flight is not None:
            in_flight.append(handle)
        self.iteration = iteration + 1
        with nogil:
            self.executor.submit(handle.batch)
        return handle

    cdef shared_ptr[engine.Batch] made(self, PreparedPlan plan, int64_t number, int size) except *:
        return self.executor.make_batch(
            <shared_ptr[const engine.PreparedPlan]>plan.plan, number, size
        )

    cdef int start(self, Batch batch, bint here) except -1:
        with nogil:
            if here:
                self.executor.run_here(batch.batch)
            else:
                self.executor.submit(batch.batch)
        return 0

    def wait(self, Batch batch, double seconds) -> bool:
        """Wait until the batch is done; False after `seconds`, or when no thread works on it."""
        cdef bint done
        with nogil:
            done = self.executor.wait(batch.batch, seconds)
        return done

    cdef int64_t begin_step(
        self, engine.StepTask* task, double seconds, const engine.Batch* until,
        engine.StepsFor who, bint comes_again
    ) except -1:
        if comes_again and self.unfinished.batch:
            task[0] = self.unfinished
        else:
            with nogil:
                task[0] = self.executor.next_step(seconds, until, who)
        if not comes_again or not task.batch:
            return 0
        self.unfinished = task[0]
        self.num_begun += 1
        self.begun_by = _thread.get_ident()
        return self.num_begun

    cdef int end_step(self, const engine.StepTask& task, int64_t number) except -1:
        if number:
            self.unfinished.batch.reset()
        with nogil:
            self.executor.finish_step(task)
        return 0

    cdef int copy_in(self, vector[engine.Tensor]& tensors, engine.BufferPool* pool) except -1:
        with nogil:
            self.executor.copy_in(tensors, pool)
        return 0

    def outputs(
        self, Batch batch, object stream=None, object done=None, object consumer=None
    ) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """Return the outputs of a batch that is done and has no failures.

        Parameters
        ----------
        batch : Batch
            The batch.
        stream, done : object
            Where values on a device are computed, and the event after which they are complete.
        consumer : object
            Stream that will use these values, and is made to wait for them.
        """
        cdef engine.Batch* own = batch.batch.get()
        cdef TensorListGPU on_device
        results = []
        for number, value in enumerate(engine.outputs_of(own[0])):
            is_contiguous = own.contiguous[number] or own.size() == 0
            if number in self.outputs_on_device:
                on_device = wrap_device_tensors(
                    own.values[<size_t>value], is_contiguous, stream, done
                )
                if consumer is not None:
                    on_device._use_in(consumer)
                results.append(on_device)
            else:
                results.append(wrap_tensors(own.values[<size_t>value], is_contiguous))
        return tuple(results)

    def value(
        self, Batch batch, size_t value, size_t sample, object stream=None
    ) -> TensorCPU | TensorGPU | None:
        """Return a value of a sample of a batch that is done; None if it never came into being.

        Parameters
        ----------
        batch : Batch
            The batch.
        value, sample : int
            Id of the value, which nothing has released, and place of the sample in the batch.
        stream : object, optional
            Where values on a device were computed, which must be complete.
        """
        cdef vector[engine.Tensor] found
        found.push_back(batch.batch.get().values[value][sample])
        if found[0].type == engine.DataType.kNone:
            return None
        if found[0].device == engine.kHost:
            return wrap_tensors(found, True)[0]
        return wrap_device_tensors(found, True, stream, None)[0]

    def wait_for_steps(self, double seconds) -> bool:
        """Wait until no step runs in Python; False after `seconds`."""
        cdef bint idle
        with nogil:
            idle = self.executor.wait_for_steps(seconds)
        return idle

    def cancel(self) -> None:
        """Drop all batches that are not done."""
        with nogil:
            self.executor.cancel()
        # A step that was interrupted here; that of another thread may be running.
        if self.unfinished.batch and self.begun_by == <unsigned long>_thread.get_ident():
            self.executor.finish_step(self.unfinished)
            self.unfinished.batch.reset()
            self.num_begun += 1

    def go_to(self, int64_t iteration, in_flight: deque[Batch]) -> None:
        """Empty the queue of batches, which were cancelled; the next one has this number."""
        in_flight.clear()
        self.iteration = iteration

    def close(self) -> None:
        """Drop all batches and end the threads. Does nothing twice, or in a forked child."""
        if getpid() == self.owner_process:
            with nogil:
                self.executor.close()

    def trim(self) -> None:
        """Return unused memory to the system. Does nothing in a forked child."""
        if getpid() == self.owner_process:
            with nogil:
                self.executor.pool().trim()

    @property
    def closed(self) -> bool:
        # In a forked child the threads do not exist and their locks may be held.
        return getpid() != self.owner_process or self.executor.closed()

    def fusion_counts(self) -> list[tuple[int, int]]:
        """For each chain, count the samples that ran as one, and those that could not."""
        return [(c.get().fused.load(), c.get().refused.load()) for c in self.chain_counts]

    @property
    def num_compute_threads(self) -> int:
        """Number of threads that run sample programs."""
        return self.executor.num_compute_threads()

    @property
    def num_active(self) -> int:
        """Number of batches that are not done."""
        return self.count_active()

    cdef int count_active(self) except -1:
        return self.executor.num_active()

    def reading_stats(self) -> tuple[int, int]:
        """Count the samples that were read ahead and wait for their turn, and their bytes."""
        return self.executor.samples_waiting(), self.executor.bytes_waiting()

    def memory_stats(self) -> dict[str, int]:
        """Return the bytes of buffers in use, and of those kept for the next batches."""
        return {"used_bytes": self.executor.pool().used_bytes(),
                "idle_bytes": self.executor.pool().idle_bytes()}
