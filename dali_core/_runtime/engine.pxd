# Declarations of the C++ engine for the Cython modules.
from libc.stdint cimport int8_t, int64_t, uint16_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.deque cimport deque
from libcpp.map cimport map as cmap
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector


cdef extern from "dali_core/types.hpp" namespace "dali_core" nogil:
    cdef enum class DataType(signed char):
        kNone

    int64_t size_of(DataType type)

    cdef const int kMaxDims

    cdef cppclass Shape:
        int ndim
        int64_t[8] dims
        Shape()
        int64_t num_elements()
        cbool operator==(const Shape&)

    cdef const int64_t kMaxBytes

    cbool is_possible(const Shape& shape, DataType type)
    void check_size(const Shape& shape, DataType type) except +

    cdef cppclass Layout:
        Layout()
        Layout(const string&) except +
        const char* c_str()
        int ndim()
        cbool empty()


cdef extern from "dali_core/host_memory.hpp" namespace "dali_core" nogil:
    void require_host_memory(size_t bytes) except +


cdef extern from "dali_core/memory.hpp" namespace "dali_core" nogil:
    cdef cppclass BlockSource:
        void* (*allocate)(void* context, size_t bytes) noexcept nogil
        void (*free)(void* context, void* block) noexcept nogil
        void* context

    cdef cppclass BufferPool:
        @staticmethod
        shared_ptr[BufferPool] create() except +

        @staticmethod
        shared_ptr[BufferPool] create(BlockSource source) except +
        shared_ptr[void] allocate(size_t bytes) except +
        void trim()
        size_t idle_bytes()
        size_t used_bytes()


cdef extern from "dali_core/tensor.hpp" namespace "dali_core" nogil:
    cdef const int8_t kHost

    cdef cppclass Tensor:
        shared_ptr[void] storage
        void* data
        DataType type
        int8_t device
        Shape shape
        Layout layout
        shared_ptr[const string] source
        int64_t num_elements()
        int64_t num_bytes()


cdef extern from "dali_core/philox.hpp" namespace "dali_core" nogil:
    uint64_t mix64(uint64_t x)

    cdef cppclass SampleKey:
        uint64_t epoch
        uint64_t sample


cdef extern from "dali_core/operator.hpp" namespace "dali_core" nogil:
    cdef cppclass ArgumentValue:
        ArgumentValue()

    cdef cppclass OperatorConfig:
        string name
        cmap[string, ArgumentValue] values
        vector[string] tensor_arguments
        uint64_t seed
        int reader
        int num_inputs
        int num_outputs

    cdef cppclass Operator:
        pass


cdef extern from "dali_core/device_batch.hpp" namespace "dali_core" nogil:
    cdef cppclass DeviceChain:
        pass

    cdef cppclass DeviceMemory:
        int8_t device()
        shared_ptr[void] allocate(size_t bytes) except +
        shared_ptr[void] allocate_host(size_t bytes) except +

    cdef cppclass KernelLaunch:
        KernelLaunch()
        const char* kernel
        int node
        unsigned int[3] grid
        unsigned int[3] block
        unsigned int shared_bytes
        int num_arguments
        uint16_t[16] offsets
        char[256] bytes

        @staticmethod
        void limit_blocks(int64_t blocks)

    cdef cppclass MemoryCopy:
        void* to
        const void* from_ "from"
        size_t bytes
        shared_ptr[void] keep

    cdef cppclass DeviceWork:
        DeviceWork()
        vector[MemoryCopy] uploads
        vector[KernelLaunch] launches
        vector[MemoryCopy] downloads
        vector[shared_ptr[void]] scratch


cdef extern from "dali_core/permutation.hpp" namespace "dali_core" nogil:
    cdef cppclass Permutation:
        Permutation(uint64_t size, uint64_t seed, uint64_t epoch)
        uint64_t apply "operator()"(uint64_t position)
        void list(int64_t* elements)
        void list(uint64_t first, uint64_t count, int64_t* elements)


cdef extern from "reader_run.hpp" namespace "dali_core" nogil:
    cdef cppclass ReaderRun:
        ReaderRun()
        uint64_t epoch
        uint64_t first, length, step
        uint64_t shard_first, shard_size, shard_step
        uint64_t order_first, order_size, order_seed
        cbool is_absent
        shared_ptr[const vector[int64_t]] listed_order


cdef extern from "batch.hpp" namespace "dali_core" nogil:
    cdef enum class FailureKind:
        kOther
        kValueError
        kIndexError

    cdef cppclass SampleFailure:
        int sample
        int node
        string message
        string source
        cbool is_final
        FailureKind kind

    cdef cppclass Batch:
        int size()
        void shrink(int size)
        int num_samples()
        void join(vector[int] first_samples) except +
        vector[Tensor] samples(size_t value, const vector[int]& places) except +
        void set_value(size_t value, vector[Tensor] tensors, const vector[int]& places) except +
        vector[int64_t] bytes_of(int value)
        void fail(SampleFailure failure)
        cbool failed()
        vector[SampleFailure] failures()
        FailureKind failure_kind()
        vector[SampleFailure] replaced()
        void set_runs(int reader, vector[ReaderRun] runs) except +
        void give(int value, int sample, Tensor tensor) except +
        int64_t iteration
        cbool cancelled
        vector[SampleKey] keys
        vector[uint64_t] draws
        vector[BufferPool*] pools
        vector[vector[Tensor]] values
        vector[cbool] contiguous
        int64_t done_at


cdef extern from "run_times.hpp" namespace "dali_core" nogil:
    int64_t nanoseconds_now()
    const int kNumDurationClasses

    cdef cppclass Counter[Number]:
        Number get()

    cdef cppclass OperatorTimes:
        Counter[int64_t] samples
        Counter[int64_t] nanoseconds
        Counter[int64_t] processor_nanoseconds
        Counter[int64_t] bytes_in
        Counter[int64_t] bytes_out
        # An array of C++, which is used like this.
        vector[Counter[int64_t]] durations

    cdef enum class WaitingFor:
        kNothing
        kConsumer
        kSteps
        kOthers
        kFiles

    cdef cppclass TraceEvent:
        int64_t begin
        int64_t end
        int64_t what
        int64_t iteration
        int64_t sample

    cdef cppclass ThreadTimes:
        int64_t waited(WaitingFor what, int64_t now)
        void trace(cbool is_traced)
        vector[TraceEvent] take_events() except +
        vector[OperatorTimes] operators


cdef extern from "argument_limits.hpp" namespace "dali_core" nogil:
    cdef cppclass ArgumentLimits:
        size_t slot
        string name
        double least
        double most
        cbool above
        string rule
        double least_length
        double most_length
        string length_rule


cdef extern from "sample_program.hpp" namespace "dali_core" nogil:
    cdef cppclass FusedChain:
        pass

    cdef cppclass AtomicCount "std::atomic<int64_t>":
        int64_t load()

    cdef cppclass FusionCounts:
        AtomicCount fused
        AtomicCount refused

    cdef cppclass Instruction:
        shared_ptr[const Operator] op
        int node
        vector[int] inputs
        vector[int] arguments
        vector[ArgumentLimits] limits
        vector[int] outputs
        vector[int] releases
        vector[pair[int, cbool]] guards
        cbool reads_group
        int joined
        shared_ptr[const FusedChain] chain
        shared_ptr[FusionCounts] chain_counts
        int chain_length
        int chain_slot
        shared_ptr[const FusedChain] joint
        vector[int] joint_members
        cbool from_reader
        int reader

    cdef cppclass SampleProgram:
        SampleProgram(vector[Instruction])

        @staticmethod
        vector[int] passing(const vector[pair[int, cbool]]& guards, const Batch& batch) except +


cdef extern from "device_program.hpp" namespace "dali_core" nogil:
    cdef cppclass DeviceInstruction:
        shared_ptr[const Operator] op
        int node
        vector[int] inputs
        vector[int] arguments
        vector[ArgumentLimits] limits
        vector[int] outputs
        vector[int] releases
        vector[pair[int, cbool]] guards
        shared_ptr[const DeviceChain] chain
        shared_ptr[FusionCounts] chain_counts
        int chain_length

    cdef cppclass DevicePlan:
        DeviceWork work
        cbool failed
        cbool device_failed
        cbool out_of_memory
        SampleFailure failure

    cdef cppclass DeviceProgram:
        DeviceProgram(vector[DeviceInstruction]) except +
        void plan(Batch& batch, DeviceMemory& memory, DevicePlan& plan)


cdef extern from "dali_core/_runtime/fusion/chains.hpp" namespace "dali_core" nogil:
    shared_ptr[const FusedChain] make_chain(const vector[Instruction]& members) except +
    shared_ptr[const DeviceChain] make_device_chain(const vector[Instruction]& members) except +
    shared_ptr[const FusedChain] make_region_chain(const vector[Instruction]& members) except +


cdef extern from "executor.hpp" namespace "dali_core" nogil:
    cdef cppclass Stage:
        shared_ptr[SampleProgram] program
        cbool is_source
        cbool by_caller
        int node

    cdef enum class StepsFor:
        kCaller
        kOthers
        kAll

    cdef cppclass Plan:
        vector[Stage] stages
        vector[int] outputs
        vector[vector[int]] joined_outputs
        int num_values
        int num_joined
        int num_readers
        int num_io_threads
        cbool replaces_failed
        vector[int] uploaded
        shared_ptr[BufferPool] upload_pool

    cdef cppclass StepTask:
        shared_ptr[Batch] batch
        int stage

    cdef cppclass PreparedPlan:
        PreparedPlan(Plan plan) except +
        int num_timed

    const vector[int]& outputs_of(const Batch& batch)

    cdef cppclass Executor:
        Executor(Plan plan, int num_threads, cbool set_affinity) except +
        Executor(int num_threads, int num_timed) except +
        shared_ptr[Batch] make_batch(int64_t iteration, int size) except +
        shared_ptr[Batch] make_batch(
            shared_ptr[const PreparedPlan] plan, int64_t iteration, int size
        ) except +
        void submit(const shared_ptr[Batch]& batch) except +
        void run_here(const shared_ptr[Batch]& batch) except +
        cbool wait(const shared_ptr[Batch]& batch, double seconds)
        StepTask next_step(double seconds, const Batch* until, StepsFor who)
        void finish_step(const StepTask& task) except +
        cbool wait_for_steps(double seconds)
        void cancel()
        void close()
        cbool closed()
        int64_t samples_waiting()
        int64_t bytes_waiting()
        void copy_in(vector[Tensor]& tensors, BufferPool* pool) except +
        BufferPool& pool()
        const Plan& plan()
        deque[ThreadTimes]& times()
        int num_compute_threads()
        int num_active()


cdef extern from "dlpack.hpp" namespace "dali_core" nogil:
    cdef cppclass DLManagedTensor:
        void (*deleter)(DLManagedTensor*)

    cdef cppclass DLManagedTensorVersioned:
        unsigned int major
        uint64_t flags
        void (*deleter)(DLManagedTensorVersioned*)

    DLManagedTensor* export_unversioned(const Tensor& tensor) except +
    DLManagedTensorVersioned* export_versioned(const Tensor& tensor, cbool copied) except +


cdef extern from "dlpack_import.hpp" namespace "dali_core" nogil:
    Tensor import_dlpack[Managed](Managed* managed, cbool on_device) except +
