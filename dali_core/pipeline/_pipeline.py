"""`Pipeline`: a graph of operators, and the batches that it gives out."""

from __future__ import annotations

import os
import secrets
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from dali_core import types
from dali_core._execution.readers import Readers
from dali_core._execution.runner import Runner, RunnerOptions
from dali_core._graph.build import Graph
from dali_core._graph.context import (
    current_pipeline,
    pop_pipeline,
    push_pipeline,
    user_location,
)
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.planner import ExecutionPlan, make_plan
from dali_core._runtime.step import Step
from dali_core._runtime.tensors import TensorListCPU
from dali_core.errors import (
    ArgumentTypeError,
    GraphError,
    PipelineStateError,
)
from dali_core.pipeline._checkpoints import PipelineCheckpoints
from dali_core.pipeline._checks import (
    ApiCheck,
    bad_sample_limit,
    check_output_node,
    check_outputs,
    checkpoint_data,
    positive_int,
    prefetch_depth,
)
from dali_core.pipeline._queries import PipelineQueries


class Pipeline(PipelineCheckpoints, PipelineQueries):
    """A graph of operators that turns a data set into batches.

    Either decorate a function with `pipeline_def`, or derive a class and override `define_graph`,
    or call operators inside ``with pipeline:`` and then `set_outputs`.

    Batches are computed ahead by native threads. What `outputs` returns belongs to whoever holds it
    and is never overwritten.

    Parameters
    ----------
    batch_size : int
        Number of samples in a batch; the largest number, where sources decide.
    num_threads : int, optional
        Number of native threads; by default one for each processor this process may use.
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
        Run Python functions in a thread of their own, so that they overlap with the training loop.
        If False they run in the thread that asks for the batch, which is handy for debugging.
    bytes_per_sample : int
        Accepted without effect.
    set_affinity : bool
        Bind each native thread to one processor.
    max_streams, default_cuda_stream_priority, enable_memory_stats, exec_dynamic : object
        Accepted without effect.
    enable_checkpointing : bool
        Accepted without effect: checkpoints can always be made.
    checkpoint : bytes or str, optional
        What `checkpoint` returned: the pipeline goes on from there.
    py_num_workers, py_start_method, py_callback_pickler : object
        Accepted without effect: Python sources run in a thread.
    output_dtype, output_ndim : optional
        Expected element type and number of dimensions of each output, or one for all; a batch that
        differs raises.
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
        py_num_workers: int = 1,
        py_start_method: str = "fork",
        py_callback_pickler: object = None,
        output_dtype: types.DALIDataType | Sequence[types.DALIDataType | None] | None = None,
        output_ndim: int | Sequence[int | None] | None = None,
        exec_dynamic: bool | None = None,
        optimize: bool = True,
        on_sample_error: str = "raise",
        max_bad_samples: float | None = None,
    ) -> None:
        self._graph = Graph()
        self._location = user_location()
        self._batch_size = positive_int("batch_size", batch_size)
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        self._num_threads = positive_int(
            "num_threads", num_threads if num_threads is not None else processors or os.cpu_count()
        )
        if device_id is not None and (
            isinstance(device_id, bool) or not isinstance(device_id, int)
        ):
            raise ArgumentTypeError(
                f"Pipeline: device_id must be an int or None (got {device_id!r}). Pass None to "
                "compute on the host."
            )
        self._device_id = device_id
        if seed is not None and (isinstance(seed, bool) or not hasattr(seed, "__index__")):
            raise ArgumentTypeError(f"Pipeline: seed must be an int or None (got {seed!r}).")
        self._seed_is_given = seed is not None and int(seed) >= 0
        self._seed = int(seed or 0) % 2**64 if self._seed_is_given else secrets.randbits(63)
        self._exec_pipelined = bool(exec_pipelined)
        self._exec_async = bool(exec_async)
        self._prefetch_queue_depth = prefetch_queue_depth
        depth = prefetch_depth(prefetch_queue_depth)
        self._depth = depth if self._exec_pipelined else 1
        self._set_affinity = bool(set_affinity)
        self._optimize = bool(optimize)
        self._max_bad_samples = bad_sample_limit(on_sample_error, max_bad_samples)
        self._replaces_failed = on_sample_error == "replace"
        self._output_dtype = output_dtype
        self._output_ndim = output_ndim
        self._outputs: list[DataNode] | None = None
        self._plan: ExecutionPlan | None = None
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
        self._close: Callable[[], object] = _do_nothing

    # What it is

    @property
    def batch_size(self) -> int:
        """Number of samples in a batch; the largest number, where sources decide."""
        return self._batch_size

    @property
    def max_batch_size(self) -> int:
        """The same as `batch_size`."""
        return self._batch_size

    @property
    def num_threads(self) -> int:
        """Number of native threads."""
        return self._num_threads

    @property
    def device_id(self) -> int | None:
        """Number of the GPU, or None."""
        return self._device_id

    @property
    def seed(self) -> int:
        """Seed of all random operators."""
        return self._seed

    @property
    def exec_pipelined(self) -> bool:
        """Whether batches are computed ahead."""
        return self._exec_pipelined

    @property
    def exec_async(self) -> bool:
        """Whether Python functions run in a thread of their own."""
        return self._exec_async

    @property
    def prefetch_queue_depth(self) -> int | Mapping[str, int]:
        """How many batches are on their way at once, as it was given."""
        return self._prefetch_queue_depth

    @property
    def num_outputs(self) -> int:
        """Number of outputs of the built pipeline."""
        self.build()
        assert self._outputs is not None
        return len(self._outputs)

    @staticmethod
    def current() -> Pipeline | None:
        """Give the pipeline that is being defined in this thread."""
        return current_pipeline()

    # Defining and building

    def define_graph(self) -> Any:
        """Define the graph: override this to call operators and return the outputs.

        Returns
        -------
        DataNode or sequence of DataNode
            The outputs.
        """
        raise GraphError(
            f"Pipeline made at {self._location}: has no outputs. Override define_graph, call "
            "set_outputs, or use @pipeline_def."
        )

    def iter_setup(self) -> None:
        """Prepare an iteration: override this to call `feed_input`, or to raise StopIteration."""

    def set_outputs(self, *outputs: DataNode) -> None:
        """Choose what the pipeline gives out.

        Parameters
        ----------
        *outputs : DataNode
            Values of this pipeline's graph.
        """
        if self._plan is not None:
            raise PipelineStateError(
                "Pipeline.set_outputs: must be called before the pipeline is built (it is built)."
            )
        for number, value in enumerate(outputs):
            check_output_node(number, value, self._graph, self._location)
        self._outputs = list(outputs)

    def build(self) -> None:
        """Check and plan the graph, and start the native threads. Called by need.

        With a reader that has `lazy_init`, the threads start and its files are listed only when
        somebody asks for a batch or for the size of an epoch.
        """
        if self._plan is not None:
            return
        if self._outputs is None:
            with self:
                result = self.define_graph()
            self.set_outputs(*(result if isinstance(result, (tuple, list)) else (result,)))
        assert self._outputs is not None
        self._plan = make_plan(self._outputs, self._graph.nodes, optimize=self._optimize)
        if not any(node.arguments.get("lazy_init") for node in self._live_nodes):
            self._start()

    @property
    def _live_nodes(self) -> list[OperatorNode]:
        assert self._plan is not None
        return [entry.node for stage in self._plan.stages for entry in stage.nodes]

    def _start(self) -> Runner:
        """Open the data sets and start the threads, if that has not been done yet."""
        self.build()
        if self._runner is not None:
            return self._runner
        runner = self._make_runner()
        try:
            return self._restore_checkpoint() or runner
        except Exception:
            self._close()
            self._runner = None
            raise

    def _make_runner(self, steps: Mapping[OperatorNode, Step] | None = None) -> Runner:
        assert self._plan is not None
        self._readers = Readers(self._live_nodes)
        options = RunnerOptions(
            batch_size=self._batch_size,
            num_threads=self._num_threads,
            seed=self._seed,
            set_affinity=self._set_affinity,
            asynchronous=self._exec_async,
            replaces_failed=self._replaces_failed,
            max_bad_samples=self._max_bad_samples,
        )
        runner = Runner(self._plan, self._readers.by_node, options, steps)
        # A function of the user that is running keeps the runner alive, but not the pipeline.
        self._close = weakref.finalize(self, runner.close)
        self._runner = runner
        return runner

    # Running

    def run(self) -> tuple[TensorListCPU, ...]:
        """Compute a batch, and start those after it.

        Returns
        -------
        tuple of TensorListCPU
            The outputs. They are never overwritten.

        Raises
        ------
        StopIteration
            If a source has no more data; `reset` starts over.
        SampleError
            If an operator failed; the next call goes on with the next batch.
        """
        with self._api.calls(types.PipelineAPIType.BASIC):
            self.schedule_run()
            return self.outputs()

    def schedule_run(self) -> None:
        """Start to compute the next batch (the first time: as many as are prefetched)."""
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            self._start()
            if self._is_first_run:
                self._submit_first()
            else:
                self._submit()

    def outputs(self) -> tuple[TensorListCPU, ...]:
        """Wait for the oldest batch that was started, and give its outputs.

        Raises
        ------
        StopIteration
            If a source has no more data.
        SampleError
            If an operator failed on a sample.
        """
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            self.release_outputs()
            return self.share_outputs()

    def share_outputs(self) -> tuple[TensorListCPU, ...]:
        """Do the same as `outputs`, for programs that call `release_outputs` themselves."""
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            if not self._in_flight:
                if self._setup_ended or self._has_ended:
                    self._has_ended = True
                    raise StopIteration
                raise PipelineStateError(
                    "Pipeline.outputs: a batch must have been started (none was). Call "
                    "schedule_run first, or use run."
                )
            assert self._runner is not None
            # Waiting may be interrupted by Ctrl-C: the batch then stays the next one.
            if not self._runner.wait(self._in_flight[0]):
                self._has_ended = True
                raise StopIteration
            outputs = self._runner.outputs(self._in_flight.popleft())
            check_outputs(outputs, self._output_dtype, self._output_ndim)
            self._num_shared += 1
            return outputs

    def release_outputs(self) -> None:
        """Give up the last outputs. Their memory is reused once nobody else holds them either."""
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            self._num_shared = max(0, self._num_shared - 1)

    def reset(self) -> None:
        """Start over after the end of the data. In mid-epoch this does nothing."""
        if self._runner is None:
            return
        if self._looks_ahead and self._is_first_run and not self._has_ended:
            self._submit_first()
        if self._in_flight and not self._has_ended:
            self._has_ended = not self._runner.wait(self._in_flight[0])
        if not (self._has_ended or (self._setup_ended and not self._in_flight)):
            return
        first = self._in_flight[0].iteration if self._in_flight else self._runner.iteration
        self._in_flight.clear()
        self._epoch_setups = self._num_setups
        self._runner.reset(first)
        self._is_first_run = True
        self._has_ended = False
        self._setup_ended = False

    def empty(self) -> bool:
        """Tell whether no batch is started and not yet given out."""
        return not self._in_flight

    def feed_input(self, data_node: DataNode | str, data: Any, layout: str = "", **_: Any) -> None:
        """Hand over a batch to an `external_source` that has no source of its own.

        Parameters
        ----------
        data_node : DataNode or str
            Output of the operator, or its name.
        data : list of arrays, array, or TensorListCPU
            The samples. They are copied when the batch is computed.
        layout : str
            Layout of each sample.
        """
        if self._is_replaying:
            return
        runner = self._start()
        name = data_node.source.name if isinstance(data_node, DataNode) else data_node
        for node, step in runner.steps.items():
            if node.name == name and hasattr(step, "feed"):
                step.feed(data, layout)
                return
        raise GraphError(
            f"Pipeline.feed_input: data_node must be an external_source of this pipeline (got "
            f"{name!r}). Name one that the outputs depend on."
        )

    def close(self) -> None:
        """End all threads. Outputs that were given out stay valid; running again raises."""
        self._in_flight.clear()
        self._close()

    # API check

    def enable_api_check(self, enable: bool) -> None:
        """Choose whether mixing `run` with `schedule_run` and the like is refused."""
        self._api.is_enabled = enable

    # Context: operators called inside belong to this pipeline

    def __enter__(self) -> Pipeline:
        push_pipeline(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pop_pipeline()

    def __repr__(self) -> str:
        state = "not built" if self._plan is None else f"{len(self._graph.nodes)} operators"
        return f"Pipeline(batch_size={self._batch_size}, num_threads={self._num_threads}, {state})"

    @property
    def _has_setup(self) -> bool:
        return type(self).iter_setup is not Pipeline.iter_setup

    def _submit_first(self) -> None:
        self._is_first_run = False
        for _ in range(self._depth):
            self._submit()

    def _submit(self) -> None:
        assert self._runner is not None
        if self._setup_ended or self._has_ended:
            return
        self._num_setups += 1
        try:
            self.iter_setup()
        except StopIteration:
            self._setup_ended = True
            return
        self._in_flight.append(self._runner.submit())


def _do_nothing() -> None:
    pass
