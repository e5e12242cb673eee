"""Starting batches and taking their outputs, to the end of the data and from there again."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from dali_core import types
from dali_core._execution.memory_statistics import MemoryStatistics
from dali_core._execution.python_workers import PythonWorkers
from dali_core._execution.runner import Runner
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.errors import NoBatchError
from dali_core.pipeline._checks import ApiCheck
from dali_core.pipeline._outputs import ExpectedOutputs

# A TensorListGPU where the graph ends on a device, which no annotation of a pipeline can tell.
OutputList: TypeAlias = TensorListCPU | Any


class PipelineRunning:
    """The part of `Pipeline` that runs it."""

    _api: ApiCheck
    _depth: int
    _epoch_setups: int
    _expected: ExpectedOutputs
    _has_ended: bool
    _in_flight: deque[Any]
    _is_first_run: bool
    _looks_ahead: bool
    _memory: MemoryStatistics | None
    _num_setups: int
    _num_shared: int
    _runner: Runner | None
    _setup_ended: bool
    _workers: PythonWorkers | None

    if TYPE_CHECKING:

        def iter_setup(self) -> None: ...

        def _feed_inputs(self, inputs: dict[str, Any]) -> None: ...

        def _start(self) -> Runner: ...

    def run(self, cuda_stream: Any = None, /, **pipeline_inputs: Any) -> tuple[OutputList, ...]:
        """Compute a batch, and start those after it.

        Parameters
        ----------
        cuda_stream : object, optional
            Stream that will use outputs on a device, and is made to wait for them: a handle, or a
            stream object of any library. Without one, and for other streams, whatever takes the
            outputs by DLPack or CUDA's array interface waits by itself; nobody else does. Without
            effect where all outputs are on the host.
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
            If an operator failed; the next call goes on with the next batch.
        Exception
            What a source raised is raised here, too, with a note that says where. The next call
            goes on as well.
        """
        with self._api.calls(types.PipelineAPIType.BASIC):
            if pipeline_inputs:
                self._feed_inputs(pipeline_inputs)
            self.schedule_run()
            return self.outputs(cuda_stream)

    def schedule_run(self) -> None:
        """Start to compute the next batch (the first time: as many as are prefetched)."""
        self._check_caller()
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            self._start()
            if self._is_first_run:
                self._submit_first()
            else:
                self._submit()

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
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            self.release_outputs()
            return self.share_outputs(cuda_stream)

    def share_outputs(self, cuda_stream: Any = None) -> tuple[OutputList, ...]:
        """Do the same as `outputs`, for programs that call `release_outputs` themselves."""
        self._check_caller()
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            if not self._in_flight:
                if self._setup_ended or self._has_ended:
                    self._has_ended = True
                    raise StopIteration
                raise NoBatchError(
                    "Pipeline.outputs: a batch must have been started (none was). Call "
                    "schedule_run first, or use run."
                )
            assert self._runner is not None
            consumer = self._runner.consumer(cuda_stream)
            # Waiting may be interrupted by Ctrl-C: the batch then stays the next one.
            if not self._runner.wait(self._in_flight[0]):
                self._has_ended = True
                raise StopIteration
            if self._memory is not None:
                self._memory.add(self._in_flight[0])
            outputs = self._runner.outputs(self._in_flight.popleft(), consumer)
            self._expected.check(outputs)
            self._num_shared += 1
            return outputs

    def release_outputs(self) -> None:
        """Give up the last outputs. Their memory is reused once nobody else holds them either.

        On a device, that is once all streams that were said to use them have done so.
        """
        with self._api.calls(types.PipelineAPIType.SCHEDULED):
            self._num_shared = max(0, self._num_shared - 1)

    def reset(self) -> None:
        """Start over after the end of the data. In mid-epoch this does nothing."""
        if self._runner is None:
            return
        self._check_caller()
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
        """Return whether no batch is started and not yet given out."""
        return not self._in_flight

    def enable_api_check(self, enable: bool) -> None:
        """Choose whether mixing `run` with `schedule_run` and the like is refused."""
        self._api.is_enabled = enable

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
        batch = self._runner.submit()
        # Ctrl-C may end a source: the batch then is one that has failed.
        self._in_flight.append(batch)
        self._runner.call_sources(batch)

    def _check_caller(self) -> None:
        if self._runner is not None:
            self._runner.check_caller()
        if self._workers is not None:
            self._workers.check_caller()
