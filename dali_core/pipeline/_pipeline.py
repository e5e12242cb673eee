"""`Pipeline`: a graph of operators, and the batches that it gives out."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from dali_core import types
from dali_core._execution.memory_statistics import MemoryStatistics
from dali_core._execution.python_workers import PythonWorkers
from dali_core._execution.readers import Readers
from dali_core._execution.runner import Runner, RunnerOptions
from dali_core._graph.context import user_location
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan import ExecutionPlan
from dali_core._runtime.step import Step
from dali_core.pipeline._checkpoints import PipelineCheckpoints, warn_of_lost_states
from dali_core.pipeline._checks import (
    ApiCheck,
    bad_sample_limit,
    checkpoint_data,
    is_left_out,
    optional_enum,
    optional_int,
    positive_int,
    prefetch_depth,
    thread_count,
)
from dali_core.pipeline._closing import PipelineClosing
from dali_core.pipeline._context import PipelineContext
from dali_core.pipeline._graph import PipelineGraph
from dali_core.pipeline._inputs import PipelineInputs
from dali_core.pipeline._outputs import ExpectedOutputs
from dali_core.pipeline._properties import PipelineProperties
from dali_core.pipeline._python_workers import PipelineWorkers, WorkerSettings
from dali_core.pipeline._queries import PipelineQueries
from dali_core.pipeline._running import PipelineRunning
from dali_core.pipeline._serialization import PipelineSerialization


class Pipeline(
    PipelineContext,
    PipelineProperties,
    PipelineGraph,
    PipelineInputs,
    PipelineQueries,
    PipelineRunning,
    PipelineSerialization,
    PipelineCheckpoints,
    PipelineWorkers,
    PipelineClosing,
):
    """A graph of operators that turns a data set into batches.

    Either decorate a function with `pipeline_def`, or derive a class and override `define_graph`,
    or call operators inside ``with pipeline:`` and then `set_outputs`.

    Batches are computed ahead by native threads. What `outputs` returns belongs to whoever holds it
    and is never overwritten.

    Parameters
    ----------
    batch_size : int
        Number of samples in a batch; the largest number, where sources decide. It may be left out
        (None or -1) for `deserialize_and_build`.
    num_threads : int, optional
        Number of native threads; by default (None or -1) one for each processor this process may
        use.
    device_id : int or None
        Accepted for compatibility; this version computes on the host only.
    seed : int, optional
        Seed of all random operators. The same seed gives the same data for any number of threads,
        any prefetch depth and any batch size. By default (None or negative) it is another one each
        time.
    exec_pipelined : bool
        Compute batches ahead of their use.
    prefetch_queue_depth : int or dict
        How many batches are on their way at once. Of a dict with ``"cpu_size"`` and ``"gpu_size"``
        the first counts.
    exec_async : bool
        Run functions in Python that have inputs in a thread of their own, so that they overlap with
        the training loop. If False they run in the thread that asks for the batch, as sources
        always do unless they are parallel.
    bytes_per_sample : int
        Accepted without effect.
    set_affinity : bool
        Bind each native thread to one processor.
    enable_memory_stats : bool
        Measure the memory of each operator's outputs; see `executor_statistics`.
    max_streams, default_cuda_stream_priority, stream_policy : object
        Accepted without effect: there are no CUDA streams on the host.
    exec_dynamic, experimental_exec_dynamic, concurrency : object
        Accepted without effect: there is one executor, and it runs all samples in parallel.
    enable_checkpointing : bool
        Warn of sources whose state a checkpoint cannot have. Checkpoints can always be made.
    checkpoint : bytes or str, optional
        What `checkpoint` returned: the pipeline goes on from there.
    py_num_workers : int or None
        How many workers run sources with ``parallel=True``; None for none.
    py_start_method : str
        What the workers are: processes that inherit everything (``"fork"``), fresh processes
        (``"forkserver"``, ``"spawn"``), or threads (``"thread"``). The source is sent to fresh
        processes, so it must be possible to pickle it, and the program must protect its start with
        ``if __name__ == "__main__"``. Threads are for sources that wait, or leave the interpreter.
    py_callback_pickler : object, optional
        Sends sources to fresh processes: has ``dumps`` and ``loads``, as the modules cloudpickle
        and dill have; or a tuple of that and of keyword arguments for both. By default that is
        pickle, and cloudpickle, if it is installed, for what pickle cannot do.
    output_dtype, output_ndim, output_layout : optional
        Expected element type, number of dimensions and layout of each output, or one for all; a
        batch that differs raises. None, or an empty layout, stands for any.
    on_sample_error : str
        What happens when an operator fails on a sample. With ``"raise"`` the batch ends with a
        `SampleError`, and the next one goes on. With ``"replace"`` a good sample takes its place.
        If reading fails, or another native operator before any Python function does, that is the
        sample that comes next in the same reader's part of the epoch, whatever the batch size;
        after 100 bad ones in a row the batch ends with a `SampleError` after all. If a source, a
        Python function or a later operator fails, it is the next good sample of the same batch. In
        both cases the random numbers stay those of the bad sample. `bad_samples` lists them.
    max_bad_samples : int or float, optional
        With ``on_sample_error="replace"``: how many samples of each epoch may be bad. An int is
        their number, a float up to 1 their share of the samples given out so far (up to ten bad
        samples are always fine then). The default is 0.01, one in a hundred. From there on, every
        batch that has a bad sample raises a `BadSampleLimitError`.
    optimize : bool
        Run chains of image operators as one, which gives the same results faster; see `plan`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an argument has the wrong type or an impossible value.
    """

    def __init__(
        self,
        batch_size: int | None = None,
        num_threads: int | None = None,
        device_id: int | None = None,
        seed: int | None = None,
        exec_pipelined: bool = True,
        prefetch_queue_depth: int | Mapping[str, int] = 2,
        exec_async: bool = True,
        bytes_per_sample: int = 0,
        set_affinity: bool = False,
        max_streams: int | None = None,
        default_cuda_stream_priority: int | None = None,
        *,
        enable_memory_stats: bool = False,
        enable_checkpointing: bool = False,
        checkpoint: str | bytes | None = None,
        py_num_workers: int | None = 1,
        py_start_method: str = "fork",
        py_callback_pickler: object = None,
        output_dtype: types.DALIDataType | Sequence[types.DALIDataType | None] | None = None,
        output_ndim: int | Sequence[int | None] | None = None,
        output_layout: str | Sequence[str | None] | None = None,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: types.StreamPolicy | None = None,
        concurrency: types.OperatorConcurrency | None = None,
        optimize: bool = True,
        on_sample_error: str = "raise",
        max_bad_samples: float | None = None,
    ) -> None:
        # What `serialize` writes: the arguments as they were given.
        self._arguments = {name: value for name, value in locals().items() if name != "self"}
        PipelineClosing.__init__(self)
        self._location = user_location()
        self._graph = Graph(self._location)
        self._batch_size = 0 if is_left_out(batch_size) else positive_int("batch_size", batch_size)
        self._num_threads = thread_count(num_threads)
        self._device_id = optional_int("device_id", device_id)
        given_seed = optional_int("seed", seed, -(2**63), 2**64 - 1)
        self._seed_is_given = given_seed is not None and given_seed >= 0
        self._seed = (given_seed or 0) % 2**64 if self._seed_is_given else secrets.randbits(63)
        self._exec_pipelined = bool(exec_pipelined)
        self._exec_async = bool(exec_async)
        self._prefetch_queue_depth = prefetch_queue_depth
        depth = prefetch_depth(prefetch_queue_depth)
        self._depth = depth if self._exec_pipelined else 1
        self._set_affinity = bool(set_affinity)
        self._enable_memory_stats = bool(enable_memory_stats)
        self._worker_settings = WorkerSettings(py_num_workers, py_start_method, py_callback_pickler)
        self._workers: PythonWorkers | None = None
        self._exec_dynamic = exec_dynamic
        if experimental_exec_dynamic is not None:
            self._exec_dynamic = experimental_exec_dynamic
        self._stream_priority = (
            optional_int("default_cuda_stream_priority", default_cuda_stream_priority) or 0
        )
        self._stream_policy = optional_enum("stream_policy", stream_policy, types.StreamPolicy)
        self._concurrency = optional_enum("concurrency", concurrency, types.OperatorConcurrency)
        self._optimize = bool(optimize)
        self._max_bad_samples = bad_sample_limit(on_sample_error, max_bad_samples)
        self._replaces_failed = on_sample_error == "replace"
        self._expected = ExpectedOutputs(output_dtype, output_ndim, output_layout)
        self._outputs: list[DataNode] | None = None
        self._plan: ExecutionPlan | None = None
        self._memory: MemoryStatistics | None = None
        self._runner: Runner | None = None
        self._readers = Readers(())
        self._in_flight: deque[Any] = deque()
        self._num_shared = 0
        self._is_first_run = True
        self._has_ended = False
        self._setup_ended = False
        self._num_setups = self._epoch_setups = 0
        self._is_replaying = False
        self._looks_ahead = False
        self._checkpoint = checkpoint_data(checkpoint)
        self._restored_iterator = None
        self._api = ApiCheck()

    # Defining and building

    def iter_setup(self) -> None:
        """Prepare an iteration: override this to call `feed_input`, or to raise StopIteration."""

    def build(self) -> None:
        """Check and plan the graph, and start the native threads. Called by need.

        With a reader that has `lazy_init`, the threads start and its files are listed only when
        somebody asks for a batch or for the size of an epoch.
        """
        self._make_plan()
        if self._runner is None and not any(
            node.arguments.get("lazy_init") for node in self._live_nodes
        ):
            self._start()

    def _start(self) -> Runner:
        """Open the data sets and start the threads, if that has not been done yet."""
        if self._runner is not None:
            return self._runner
        self._make_plan()
        runner = self._make_runner()
        try:
            return self._restore_checkpoint() or runner
        except BaseException:  # Ctrl-C as well: nobody must go on with half a checkpoint
            self._close_all()
            self._runner = self._workers = None
            raise

    def _make_runner(self, steps: Mapping[OperatorNode, Step] | None = None) -> Runner:
        plan = self._make_plan()
        if steps is None:  # before any thread starts, as workers may be forked
            steps = self._started_workers().steps
            if self._arguments["enable_checkpointing"]:
                warn_of_lost_states(steps)
        self._readers = Readers(self._live_nodes)
        options = RunnerOptions(
            batch_size=self._batch_size,
            num_threads=self._num_threads,
            seed=self._seed,
            set_affinity=self._set_affinity,
            asynchronous=self._exec_async,
            replaces_failed=self._replaces_failed,
            max_bad_samples=self._max_bad_samples,
            device_id=self._device_id,
            stream_priority=self.default_cuda_stream_priority,
            depth=self.gpu_queue_size,
        )
        runner = Runner(plan, self._readers.by_node, options, steps)
        self._finish_with(runner.close)
        self._runner = runner
        return runner

    def __repr__(self) -> str:
        state = "not built" if self._plan is None else f"{len(self._graph.nodes)} operators"
        return f"Pipeline(batch_size={self._batch_size}, num_threads={self._num_threads}, {state})"

    @property
    def _has_setup(self) -> bool:
        return type(self).iter_setup is not Pipeline.iter_setup
