"""What a pipeline was made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dali_core.types import DALIDataType, OperatorConcurrency, StreamPolicy

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream
    from dali_core._execution.runner import Runner
    from dali_core._graph.node import DataNode
    from dali_core._graph.plan import ExecutionPlan
    from dali_core.pipeline._outputs import ExpectedOutputs


class PipelineProperties:
    """The plain properties of `Pipeline`."""

    _batch_size: int
    _num_threads: int
    _device_id: int | None
    _seed: int
    _seed_is_given: bool
    _exec_pipelined: bool
    _exec_async: bool
    _exec_dynamic: bool | None
    _prefetch_queue_depth: int | Mapping[str, int]
    _set_affinity: bool
    _enable_memory_stats: bool
    _stream_policy: StreamPolicy | None
    _stream_priority: int
    _concurrency: OperatorConcurrency | None
    _expected: ExpectedOutputs

    if TYPE_CHECKING:

        def _define(self) -> list[DataNode]: ...

        def _make_plan(self) -> ExecutionPlan: ...

        def _start(self) -> Runner: ...

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
    def seed(self) -> int | None:
        """Seed of all random operators, or None if none was given: it then differs each time."""
        return self._seed if self._seed_is_given else None

    @property
    def exec_pipelined(self) -> bool:
        """Whether batches are computed ahead."""
        return self._exec_pipelined

    @property
    def exec_async(self) -> bool:
        """Whether Python functions run in a thread of their own."""
        return self._exec_async

    @property
    def exec_separated(self) -> bool:
        """Whether `prefetch_queue_depth` has a depth for each kind of device."""
        return isinstance(self._prefetch_queue_depth, Mapping)

    @property
    def exec_dynamic(self) -> bool | None:
        """What `exec_dynamic` was, or would be by default in the reference; without effect."""
        if self._exec_dynamic is not None:
            return self._exec_dynamic
        by_default = self._exec_pipelined and self._exec_async and not self.exec_separated
        return True if by_default else None

    @property
    def prefetch_queue_depth(self) -> int | Mapping[str, int]:
        """How many batches are on their way at once, as it was given."""
        return self._prefetch_queue_depth

    @property
    def cpu_queue_size(self) -> int:
        """How many batches are on their way at once on the host."""
        return self._queue_size("cpu_size")

    @property
    def gpu_queue_size(self) -> int:
        """How many batches are on their way at once on a GPU."""
        return self._queue_size("gpu_size")

    def _queue_size(self, kind: str) -> int:
        depth = self._prefetch_queue_depth
        return depth[kind] if isinstance(depth, Mapping) else depth

    @property
    def set_affinity(self) -> bool:
        """Whether each native thread is bound to one processor."""
        return self._set_affinity

    @property
    def enable_memory_stats(self) -> bool:
        """Whether the memory of each operator's outputs is measured; see `executor_statistics`."""
        return self._enable_memory_stats

    @property
    def stream_policy(self) -> StreamPolicy | None:
        """How operators would share CUDA streams, as it was given."""
        return self._stream_policy

    @property
    def concurrency(self) -> OperatorConcurrency | None:
        """Which operators may run at once, as it was given."""
        return self._concurrency

    @property
    def max_streams(self) -> int:
        """Always -1: there is no limit to CUDA streams."""
        return -1

    @property
    def default_cuda_stream_priority(self) -> int:
        """Priority of the pipeline's stream on its GPU; lower numbers go first."""
        return self._stream_priority

    def output_stream(self) -> Stream | None:
        """Give the stream of the GPU in which outputs are computed; None if all are on the host.

        It has a `handle`, and `__cuda_stream__` for other libraries.
        """
        runner = self._start()
        return runner.stream if self._make_plan().outputs_on_device else None

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._define())

    def output_dtype(self) -> list[DALIDataType | None]:
        """Give the element type that is expected of each output; None for any."""
        return self._each_expected("output_dtype")

    def output_ndim(self) -> list[int | None]:
        """Give the number of dimensions that is expected of each output; None for any."""
        return self._each_expected("output_ndim")

    def output_layout(self) -> list[str | None]:
        """Give the layout that is expected of each output; None for any."""
        return self._each_expected("output_layout")

    def _each_expected(self, name: str) -> list[Any]:
        return self._expected.each(name, self.num_outputs)
