"""`Pipeline`: a graph of operators, and the batches that it returns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from numpy.typing import ArrayLike

from dali_core import types
from dali_core._graph.context import current_definition, pop_definition, push_definition
from dali_core._graph.node import DataNode
from dali_core.errors import ArgumentTypeError, NotCopiedError, PipelineStateError
from dali_core.pipeline._documents import PipelineDocuments
from dali_core.pipeline._introspection import PipelineIntrospection
from dali_core.pipeline._properties import PipelineProperties
from dali_core.pipeline._run import OutputList
from dali_core.pipeline.parameters import PipelineParameters
from dali_core.pipeline.states import PipelineStates, to_bytes

if TYPE_CHECKING:
    from dali_core.batching import Bucket, Budget, Fixed, Pack, Planned


class Pipeline(PipelineProperties, PipelineIntrospection, PipelineParameters, PipelineDocuments):
    """A graph of operators that turns a data set into batches.

    Either decorate a function with `pipeline_def`, or derive a class and override `define_graph`,
    or call operators inside ``with pipeline:`` and then `set_outputs`.

    Batches are computed ahead: on the host by native threads, on a GPU in a stream of the pipeline.
    The batches that `outputs` returns own their memory, which is never overwritten.

    Parameters
    ----------
    batch_size : int
        Number of samples in a batch; the largest number, where sources decide. It may be left out
        (None or -1) for `deserialize_and_build`.
    num_threads : int, optional
        Number of native threads; by default (None or -1) one for each processor this process may
        use.
    device_id : int or None
        The GPU for operators with ``device="gpu"`` or ``"mixed"``; a graph without any needs none.
    seed : int, optional
        Seed of all random operators. The same seed gives the same data for any number of threads,
        any prefetch depth and any batch size. By default (None or negative) it is another one each
        time.
    exec_pipelined : bool
        Compute batches ahead of their use.
    prefetch_queue_depth : int or dict
        How many batches are in flight at once. Of a dict with ``"cpu_size"`` and ``"gpu_size"`` the
        first counts on the host, the second on a GPU.
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
    default_cuda_stream_priority : int
        Priority of the pipeline's CUDA stream; lower numbers go first.
    max_streams, stream_policy : object
        Accepted without effect: all work on the GPU is in one stream.
    exec_dynamic, experimental_exec_dynamic, concurrency : object
        Accepted without effect: there is one executor, and it runs all samples in parallel.
    enable_checkpointing : bool
        Warn of sources whose state a checkpoint cannot have. Checkpoints can always be made.
    checkpoint : bytes or str, optional
        What `checkpoint` returned: the pipeline resumes from there.
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
        batch that differs raises. None, or an empty layout, allows any.
    on_sample_error : str
        What happens when an operator fails on a sample. With ``"raise"`` the batch ends with a
        `SampleError`, and the pipeline continues with the next batch. With ``"replace"`` a good
        sample takes its place. If reading fails, or another native operator before any Python
        function does, that is the sample that comes next in the same reader's part of the epoch,
        for every batch size; after 100 bad ones in a row the batch ends with a `SampleError` after
        all. If a source, a Python function or a later operator fails, it is the next good sample of
        the same batch. In both cases the random numbers stay those of the bad sample. `bad_samples`
        lists them.
    max_bad_samples : int or float, optional
        With ``on_sample_error="replace"``: how many samples of each epoch may be bad. An int is
        their number, a float up to 1 their share of the samples returned so far (up to ten bad
        samples are always fine then). The default is 0.01, one in a hundred. From there on, every
        batch that has a bad sample raises a `BadSampleLimitError`.
    optimize : bool
        Run chains of image operators as one, which gives the same results faster; see `plan`.
    batching : Budget, Bucket, Pack or Fixed, optional
        Division of the reader's samples into batches by their lengths, in place of `batch_size`:
        see `dali_core.batching`. With `Budget`, a `batch_size` beside it is the most samples of a
        batch; with `Pack`, the rows of one.
    lengths : array of int, tuple or dict of arrays, optional
        With `batching`: the length of each sample, in each kind that it uses. By default those
        that the reader declares.

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
        batching: Fixed | Budget | Bucket | Pack | Planned | None = None,
        lengths: ArrayLike | tuple[ArrayLike, ...] | Mapping[str, ArrayLike] | None = None,
    ) -> None:
        super().__init__(
            {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        )

    def __reduce__(self) -> NoReturn:
        raise NotCopiedError(
            f"{type(self).__name__}: must not be pickled or copied, since it has threads and "
            "native memory (got a copy, or pickle). Pickle the function that makes it and call "
            "that again, or use serialize() and Pipeline.deserialize for the graph, and "
            "checkpoint() for the position."
        )

    def __repr__(self) -> str:
        definition = self._definition
        state = (
            "not built" if definition.plan is None else f"{len(definition.graph.nodes)} operators"
        )
        return f"Pipeline(batch_size={self.batch_size}, num_threads={self.num_threads}, {state})"

    # Defining the graph

    @staticmethod
    def current() -> Pipeline | None:
        """Return the pipeline that is being defined in this thread."""
        pipeline: Pipeline | None = current_definition()[0]
        return pipeline

    @staticmethod
    def push_current(pipeline: Pipeline) -> None:
        """Begin to define a pipeline in this thread, as ``with pipeline:`` does.

        Parameters
        ----------
        pipeline : Pipeline
            Operators called from now on belong to it, until `pop_current`.
        """
        if not isinstance(pipeline, Pipeline):
            raise ArgumentTypeError(
                f"Pipeline.push_current: pipeline must be a Pipeline (got {pipeline!r})."
            )
        push_definition(pipeline, pipeline._definition.graph)

    @staticmethod
    def pop_current() -> None:
        """End what the last `push_current` began; the pipeline before it is current again."""
        if current_definition()[0] is None:
            raise PipelineStateError(
                "Pipeline.pop_current: a pipeline must be current (none is). Call push_current "
                "first, or use `with pipeline:`."
            )
        pop_definition()

    def set_outputs(self, *outputs: Any) -> None:
        """Set the outputs of the pipeline.

        Parameters
        ----------
        *outputs : DataNode
            Results of operators. Those of operators that were called outside of pipelines, or in
            one that was never built, are computed in this one, too. Numbers, lists and arrays
            become constants.
        """
        self._definition.set_outputs(outputs)

    def add_sink(self, edge: DataNode) -> None:
        """Compute a value in any case, even if no output depends on it.

        Parameters
        ----------
        edge : DataNode
            Result of an operator.
        """
        self._definition.add_sink(edge)

    def build(self) -> None:
        """Check and plan the graph, and start the native threads. Called by need.

        With a reader that has `lazy_init`, the threads start and its files are listed only when a
        batch or the size of an epoch is requested.
        """
        self._states.start_eagerly()

    # Running

    def feed_input(
        self,
        data_node: DataNode | str,
        data: Any,
        layout: str | None = None,
        cuda_stream: Any = None,
        use_copy_kernel: bool = False,
    ) -> None:
        """Hand over a batch to an `external_source` that has no source of its own.

        Parameters
        ----------
        data_node : DataNode or str
            Output of the operator, or its name.
        data : list of arrays, array, TensorListCPU or TensorListGPU
            The samples. They are copied: the memory may be used again at once, or, on a GPU, by
            what comes later in the stream. Only an `external_source` with ``device="gpu"`` takes
            data on a GPU, such as tensors of PyTorch.
        layout : str, optional
            Layout of each sample. Without one it is that of the data.
        cuda_stream : object, optional
            For data on a GPU: the stream that works on it; see `fn.external_source`.
        use_copy_kernel : bool
            Accepted without effect: batches are copied in one.

        Raises
        ------
        UnknownInputError
            If the outputs depend on no such operator.
        """
        self._inputs.feed(data_node, data, layout or "", cuda_stream)

    def run(self, cuda_stream: Any = None, /, **pipeline_inputs: Any) -> tuple[OutputList, ...]:
        """Compute a batch, and start those after it.

        Parameters
        ----------
        cuda_stream : object, optional
            Stream that will use outputs on a device, and is made to wait for them: a handle, or a
            stream object of any library. Without one, and for other streams, only consumers through
            DLPack or CUDA's array interface wait by themselves. Without effect where all outputs
            are on the host.
        **pipeline_inputs
            Batches for `external_source` operators without a source, by their names; see
            `feed_input`. Needs ``prefetch_queue_depth=1`` or ``exec_pipelined=False``.

        Returns
        -------
        tuple of TensorListCPU or TensorListGPU
            The outputs. They are never overwritten.

        Raises
        ------
        StopIteration
            If a source has no more data; `reset` starts over.
        SampleError
            If an operator failed; the next call continues with the next batch.
        Exception
            What a source raised is raised here, too, with a note that says where. The next call
            continues as well.
        """
        self._run.check_call(types.PipelineAPIType.BASIC)
        if pipeline_inputs:
            return self._run_with(cuda_stream, pipeline_inputs)
        self._states.start()
        return self._run.take(cuda_stream, fills=True)

    def _run_with(self, cuda_stream: Any, inputs: dict[str, Any]) -> tuple[OutputList, ...]:
        self._inputs.feed_for_run(inputs)
        try:
            outputs = self._run.take(cuda_stream, fills=True)
        except Exception:  # after an interrupt, the next call discards the inputs
            self._inputs.unfinished = ()
            raise
        self._inputs.unfinished = ()
        return outputs

    def schedule_run(self) -> None:
        """Start to compute the next batch (the first time: as many as are prefetched)."""
        self._run.check_call(types.PipelineAPIType.SCHEDULED)
        self._states.start()
        self._run.schedule()

    def schedule_batch(self, /, **pipeline_inputs: Any) -> None:
        """Start to compute one batch from these inputs, whatever `prefetch_queue_depth` is.

        `outputs` returns it after those that were started before. Nothing is started if an input
        does not fit.

        Parameters
        ----------
        **pipeline_inputs
            A batch for each of `input_names`; see `feed_input`.

        Raises
        ------
        UnknownInputError, ArgumentValueError
            If a name is unknown or missing, or the data is no batch.
        """
        self._run.check_call(types.PipelineAPIType.SCHEDULED)
        self._states.start()
        self._inputs.feed_batch(pipeline_inputs)
        self._run.schedule_one()

    def outputs(self, cuda_stream: Any = None) -> tuple[OutputList, ...]:
        """Wait for the oldest batch that was started, and give its outputs.

        On a device, they may not be computed yet: their readers wait.

        Parameters
        ----------
        cuda_stream : object, optional
            See `run`.

        Raises
        ------
        StopIteration
            If a source has no more data.
        SampleError
            If an operator failed on a sample.
        """
        return self.share_outputs(cuda_stream)

    def share_outputs(self, cuda_stream: Any = None) -> tuple[OutputList, ...]:
        """Do the same as `outputs`, for programs that call `release_outputs` themselves."""
        self._run.check_call(types.PipelineAPIType.SCHEDULED)
        return self._run.take(cuda_stream)

    def release_outputs(self) -> None:
        """Release the last outputs. Their memory is reused after their last reference is released.

        On a device, all streams that were recorded for them must have completed their work, too.
        """
        self._run.api.note(types.PipelineAPIType.SCHEDULED)  # reference counts do the work

    def reset(self) -> None:
        """Start over after the end of the data. In mid-epoch this does nothing."""
        self._run.reset()

    def empty(self) -> bool:
        """Return whether no batch is started and not yet returned."""
        return not self._run.in_flight

    def enable_api_check(self, enable: bool) -> None:
        """Choose whether mixing `run` with `schedule_run` and the like is refused."""
        self._run.api.is_enabled = enable

    def start_py_workers(self) -> None:
        """Start the workers of parallel sources now; otherwise that happens when it is built.

        Forked workers inherit all that the process has by then. A process that uses CUDA must not
        be forked, and one with many threads of its own should not be: call this first.
        """
        self._run.start_workers()

    def close(self) -> None:
        """End all threads. Outputs that were returned stay valid; running again raises."""
        self._run.close()

    # States

    @property
    def states(self) -> PipelineStates:
        """States after batches that were returned, for iterators, whose states contain them."""
        return self._states

    def state_dict(self) -> dict[str, Any]:
        """Describe what has been returned, so that another pipeline can resume from there.

        What was computed ahead does not count: a pipeline that loads the state gives the batches
        that this one would give next.

        Returns
        -------
        dict
            Numbers, texts, lists and dictionaries, which JSON can hold.  It is small and has a
            version.  Sources with a ``state_dict`` of their own add theirs.

        Raises
        ------
        StateMismatchError
            If the state of a source is not plain data.
        """
        return self._states.describe(self._states.current())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from where `state_dict` was called, perhaps in another process.

        Work in flight is discarded.  The graph must have the same operators, and readers the same
        data and order; arguments of other operators may differ.  The pipeline may have another
        number of threads, another prefetch depth, and another batch size if it reads samples by
        number.  Interleaved shards may also be more or fewer than before.  A pipeline without a
        seed takes that of the state.

        The state says nothing about the shard, so that of one process serves all that read
        other shards of the same data with the same seed.

        Parameters
        ----------
        state : mapping
            What `state_dict` returned.  Nothing changes if it does not fit.

        Raises
        ------
        StateMismatchError
            If the state does not fit this pipeline; the message says in which way.
        ArgumentTypeError
            If it is no mapping.
        PipelineStateError
            If a source or `iter_setup` has given data already and cannot start over.
        """
        where = "Pipeline.load_state_dict"
        self._states.go_to(self._states.read(state, where), where)

    def restart(self) -> None:
        """Begin the epoch afresh: go back to the last `reset` that took effect, or to the start.

        Work in flight is discarded.  The same batches come again.

        Raises
        ------
        PipelineStateError
            If a source or `iter_setup` cannot start over.
        """
        self._states.go_to(self._states.start_of_epoch(), "Pipeline.restart")

    def checkpoint(self, filename: str | os.PathLike[str] | None = None) -> bytes:
        """Return the state as JSON, to be passed as `checkpoint` to a pipeline that resumes.

        Parameters
        ----------
        filename : path, optional
            File to write it to as well; it is replaced in one step.

        Returns
        -------
        bytes
            JSON of what `state_dict` returns.
        """
        return to_bytes(self.state_dict(), filename)
