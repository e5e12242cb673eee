"""Properties of a pipeline: the arguments that it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dali_core.batching.plan import Batching
from dali_core.pipeline._parts import PipelineParts
from dali_core.types import DALIDataType, OperatorConcurrency, StreamPolicy

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream


class PipelineProperties(PipelineParts):
    """The properties of `Pipeline`."""

    @property
    def batch_size(self) -> int:
        """Number of samples in a batch; the largest number, where sources decide."""
        return self._options.batching.largest

    @property
    def max_batch_size(self) -> int:
        """The same as `batch_size`."""
        return self._options.batching.largest

    @property
    def batching(self) -> Batching:
        """Division of samples into batches: `Fixed` of `batch_size`, or by their lengths."""
        return self._options.batching

    @property
    def num_threads(self) -> int:
        """Number of native threads."""
        return self._options.num_threads

    @property
    def device_id(self) -> int | None:
        """Number of the GPU, or None."""
        return self._options.device_id

    @property
    def seed(self) -> int | None:
        """Seed of all random operators, or None if none was given: it then differs each time."""
        return self._run.seed if self._options.seed_is_given else None

    @property
    def exec_pipelined(self) -> bool:
        """Whether batches are computed ahead."""
        return self._options.exec_pipelined

    @property
    def exec_async(self) -> bool:
        """Whether Python functions run in a thread of their own."""
        return self._options.exec_async

    @property
    def exec_separated(self) -> bool:
        """Whether `prefetch_queue_depth` has a depth for each kind of device."""
        return isinstance(self._options.prefetch_queue_depth, Mapping)

    @property
    def exec_dynamic(self) -> bool | None:
        """What `exec_dynamic` was, or would be by default in the reference; without effect."""
        if self._options.exec_dynamic is not None:
            return self._options.exec_dynamic
        by_default = self.exec_pipelined and self.exec_async and not self.exec_separated
        return True if by_default else None

    @property
    def prefetch_queue_depth(self) -> int | Mapping[str, int]:
        """How many batches are in flight at once, as it was given."""
        return self._options.prefetch_queue_depth

    @property
    def cpu_queue_size(self) -> int:
        """How many batches are in flight at once on the host."""
        return self._options.queue_size("cpu_size")

    @property
    def gpu_queue_size(self) -> int:
        """How many batches are in flight at once on a GPU."""
        return self._options.queue_size("gpu_size")

    @property
    def set_affinity(self) -> bool:
        """Whether each native thread is bound to one processor."""
        return self._options.set_affinity

    @property
    def enable_memory_stats(self) -> bool:
        """Whether the memory of each operator's outputs is measured; see `executor_statistics`."""
        return self._options.enable_memory_stats

    @property
    def stream_policy(self) -> StreamPolicy | None:
        """How operators would share CUDA streams, as it was given."""
        return self._options.stream_policy

    @property
    def concurrency(self) -> OperatorConcurrency | None:
        """Which operators may run at once, as it was given."""
        return self._options.concurrency

    @property
    def max_streams(self) -> int:
        """Always -1: there is no limit to CUDA streams."""
        return -1

    @property
    def default_cuda_stream_priority(self) -> int:
        """Priority of the pipeline's stream on its GPU; lower numbers go first."""
        return self._options.stream_priority

    def output_stream(self) -> Stream | None:
        """Return the stream of the GPU in which outputs are computed; None if all are on the host.

        It has a `handle`, and `__cuda_stream__` for other libraries.
        """
        runner = self._states.start()
        return runner.stream if self._definition.make_plan().outputs_on_device else None

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._definition.define())

    @property
    def input_names(self) -> list[str]:
        """Names of the `external_source` operators to feed, as far as outputs depend on them.

        The pipeline is built to find them. They are in the order in which they run.
        """
        return self._inputs.names

    def output_dtype(self) -> list[DALIDataType | None]:
        """Return the element type that is expected of each output; None for any."""
        return self._each_expected("output_dtype")

    def output_ndim(self) -> list[int | None]:
        """Return the number of dimensions that is expected of each output; None for any."""
        return self._each_expected("output_ndim")

    def output_layout(self) -> list[str | None]:
        """Return the layout that is expected of each output; None for any."""
        return self._each_expected("output_layout")

    @property
    def py_num_workers(self) -> int | None:
        """How many workers parallel sources have; None if there are none and that was given."""
        settings = self._options.workers
        return None if settings.is_left_out else settings.num_workers

    @property
    def py_start_method(self) -> str:
        """How workers are started."""
        return self._options.workers.start_method

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether the pipeline was built from a `checkpoint`."""
        return self._states.is_restored

    def _each_expected(self, name: str) -> list[Any]:
        return self._options.expected.each(name, self.num_outputs)
