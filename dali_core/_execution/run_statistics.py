"""Puts together what the threads and the consumer of a pipeline have counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dali_core._execution.device_stages import DeviceStages
from dali_core._execution.nvtx_ranges import NVTX
from dali_core._execution.tracing import TRACER, RunTrace
from dali_core._graph.node import OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan, StageKind
from dali_core._runtime.consumer_calls import ConsumerCalls
from dali_core._runtime.executor import Executor
from dali_core._runtime.run_times import OperatorTimes, RunTimes
from dali_core._runtime.thread_times import run_times
from dali_core.errors import title_of
from dali_core.statistics import (
    ConsumerStatistics,
    OperatorStatistics,
    PipelineStatistics,
    ThreadStatistics,
)

_KINDS = {StageKind.SAMPLES: "native", StageKind.PYTHON: "Python", StageKind.DEVICE: "device"}


class RunStatistics:
    """What one executor, and the consumer of its batches, have done.

    Parameters
    ----------
    plan : ExecutionPlan
        What runs.
    executor : Executor
        What runs it.
    device : DeviceStages or None
        What runs its stages on a device.
    num_threads, depth : int
        Native threads, and batches that may be in flight.

    Attributes
    ----------
    call : ConsumerCalls
        Counts the calls by the consumer.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        executor: Executor,
        device: DeviceStages | None,
        num_threads: int,
        depth: int,
    ) -> None:
        self._plan = plan
        self._executor = executor
        self._num_threads = num_threads
        self._depth = depth
        names = [_name_of(nodes) for _, nodes in _timed(plan)]
        self.call = ConsumerCalls(executor, NVTX)
        self._trace = RunTrace(executor, names, self.call, device)
        TRACER.add(self._trace)  # which keeps no reference
        self.reset()

    def reset(self) -> None:
        """Start counting again."""
        self._before: RunTimes = run_times(self._executor)
        self.call.reset()

    def collect(self) -> PipelineStatistics:
        """Return everything that was counted."""
        now = run_times(self._executor)
        pauses = self.call.times_of_pauses(now, self._before)
        times = now.since(self._before).without(pauses)
        seconds = times.now * 1e-9
        operators = list(self._operators(times))
        total = sum(entry.seconds for entry in operators)
        waits, calls = times.waits, self.call
        working = self._num_threads * times.now - sum(waits)
        return PipelineStatistics(
            seconds=seconds,
            operators=tuple(
                sorted(
                    (_with_share(entry, total) for entry in operators),
                    key=lambda entry: -entry.seconds,
                )
            ),
            threads=ThreadStatistics(
                self._num_threads,
                working=max(0, working) * 1e-9,
                waiting_for_consumer=waits.consumer * 1e-9,
                waiting_for_python=waits.steps * 1e-9,
                waiting_for_files=waits.files * 1e-9,
                waiting_for_others=waits.others * 1e-9,
            ),
            consumer=ConsumerStatistics(
                batches=calls.batches,
                samples=calls.samples,
                first_wait=calls.first_wait,
                waiting=calls.waiting,
                working=calls.working,
                ready=calls.ready,
                mean_queue=calls.queued / max(1, calls.batches - 1),
                found_empty=calls.found_empty,
                found_full=calls.found_full,
                depth=self._depth,
            ),
        )

    def _operators(self, times: RunTimes) -> Iterator[OperatorStatistics]:
        for slot, (kind, nodes) in enumerate(_timed(self._plan)):
            if slot >= len(times.compute):
                return
            native = kind == _KINDS[StageKind.SAMPLES]
            own = times.compute[slot] if native else times.steps[slot]
            ahead = times.ahead[slot]
            if own.calls or ahead.calls:
                yield _described(kind, nodes, own, ahead)


def _timed(plan: ExecutionPlan) -> list[tuple[str, list[OperatorNode]]]:
    """List what has times of its own: all nodes, then all groups that run as one."""
    single = [(_KINDS[stage.kind], [entry.node]) for stage in plan.stages for entry in stage.nodes]
    groups = [
        (_KINDS[stage.kind], [stage.nodes[index].node for index in group])
        for stage in plan.stages
        if stage.kind is StageKind.SAMPLES
        for group in [*stage.chains, *stage.regions]
    ]
    return single + groups


def _name_of(nodes: list[OperatorNode]) -> str:
    return " + ".join(title_of(node.operator).removeprefix("fn.") for node in nodes)


def _described(
    kind: str, nodes: list[OperatorNode], own: OperatorTimes, ahead: OperatorTimes
) -> OperatorStatistics:
    most = own if own.calls else ahead
    return OperatorStatistics(
        name=_name_of(nodes),
        nodes=tuple(node.name for node in nodes),
        kind=kind,
        calls=own.calls + ahead.calls,
        samples=own.samples + ahead.samples,
        seconds=own.nanoseconds * 1e-9,
        seconds_ahead=ahead.nanoseconds * 1e-9,
        processor_seconds=None if kind == "native" else own.processor_nanoseconds * 1e-9,
        bytes_in=own.bytes_in + ahead.bytes_in,
        bytes_out=own.bytes_out + ahead.bytes_out,
        median=most.percentile(0.5),
        p90=most.percentile(0.9),
        p99=most.percentile(0.99),
        share=0.0,
        is_reader=len(nodes) == 1 and nodes[0].spec.reader is not None,
    )


def _with_share(entry: OperatorStatistics, total: float) -> OperatorStatistics:
    return replace(entry, share=entry.seconds / total if total > 0 else 0.0)
