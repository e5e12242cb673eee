"""Runs the stages of a plan that are on a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dali_core._execution.instantiation import make_operator
from dali_core._extras import install_command
from dali_core._graph.node import OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan, PlannedStage, StageKind
from dali_core._runtime.device_program import DeviceProgram
from dali_core._runtime.executor import HostPool
from dali_core._runtime.executor_config import Instruction
from dali_core._runtime.step_task import StepTask
from dali_core.errors import CudaError, CudaUnavailableError, GraphError

if TYPE_CHECKING:
    from dali_core._cuda.stream import Event, Stream
    from dali_core._cuda.stream_trace import DeviceSpan
    from dali_core._cuda.work_queue import WorkQueue


class DeviceStages:
    """The device programs of a plan, which put the work for one batch after the other in a stream.

    Parameters
    ----------
    stages : dict of int to PlannedStage
        The stages by their numbers.
    node_numbers : dict of OperatorNode to int
        How failures name nodes.
    seed : int
        Unsigned 64-bit seed of all random operators.
    queue : WorkQueue
        The stream.
    """

    def __init__(
        self,
        stages: Mapping[int, PlannedStage],
        node_numbers: Mapping[OperatorNode, int],
        seed: int,
        queue: WorkQueue,
    ) -> None:
        self._queue = queue
        self._inputs = {
            node_numbers[entry.node]: [*entry.inputs, *entry.arguments]
            for stage in stages.values()
            for entry in stage.nodes
        }
        self._programs = {
            number: _make_program(stage, node_numbers, seed) for number, stage in stages.items()
        }
        self._first_nodes = {
            number: node_numbers[stage.nodes[0].node] for number, stage in stages.items()
        }
        self._done: dict[int, Event] = {}

    def __contains__(self, stage: int) -> bool:
        return stage in self._programs

    @property
    def stream(self) -> Stream:
        """Where results are computed."""
        return self._queue.stream

    def wrap(self, stream: Any) -> Stream:
        """Return a stream of ours for that of another library."""
        return type(self.stream).wrap(stream, self.stream.device_id)

    @property
    def host_pool(self) -> HostPool:
        """Memory for what goes to the device."""
        return self._queue.host_pool()

    def first_node(self, stage: int) -> int:
        """Return the number of a node of a stage, for failures of the stage as a whole."""
        return self._first_nodes[stage]

    def run(self, task: StepTask) -> None:
        """Queue the work of a stage for a batch in the stream, and pass the batch on."""
        result = self._queue.run(self._programs[task.stage], task)
        if isinstance(result, tuple):
            sample, node, message, kind = result
            task.fail(sample, node, message, self._inputs[node], kind=kind)
            return
        self._done[task.batch.iteration] = result
        task.finish()

    def done_event(self, iteration: int) -> Event | None:
        """Return the event after which the values of a batch are complete; forget those before."""
        for number in [number for number in self._done.copy() if number < iteration]:
            self._done.pop(number, None)
        return self._done.get(iteration)

    def drop_batches(self) -> None:
        """Forget all batches that were not returned."""
        self._done.clear()

    def start_trace(self) -> None:
        """Time what is put into the stream from now on."""
        self._queue.start_trace()

    def stop_trace(self) -> list[DeviceSpan]:
        """Return when what was put into the stream happened."""
        return self._queue.stop_trace()

    def close(self) -> None:
        """Wait for what is in the stream, and give all memory back."""
        self._queue.close()


def stages_on_device(plan: ExecutionPlan) -> dict[int, PlannedStage]:
    """Return the stages that run on a device, by their numbers."""
    return {
        number: stage for number, stage in enumerate(plan.stages) if stage.kind is StageKind.DEVICE
    }


def uploaded_values(stages: Mapping[int, PlannedStage]) -> list[int]:
    """List the values on the host that are copied to the device."""
    return sorted(
        {
            value
            for stage in stages.values()
            for entry in stage.nodes
            for node, value in zip(entry.node.inputs, entry.inputs, strict=False)
            if node.device == "cpu"
        }
    )


def values_on_host(plan: ExecutionPlan) -> set[int]:
    """Return the values that are read on the host, or in a plan without a device all values."""
    if not stages_on_device(plan):
        return set(range(plan.num_values))
    found = {
        value for number, value in enumerate(plan.outputs) if number not in plan.outputs_on_device
    }
    for stage in plan.stages:
        for entry in stage.nodes:
            found.update(entry.arguments, (value for value, _ in entry.guards))
            if entry.node.spec.role != "to device":
                found.update(entry.inputs)
    return found


def open_queue(
    stages: Mapping[int, PlannedStage], device_id: int | None, priority: int, depth: int
) -> WorkQueue:
    """Make the stream of a pipeline.

    Raises
    ------
    GraphError
        If the pipeline has no device.
    CudaUnavailableError
        If the machine has no driver, or no such device.
    """
    node = min((entry.node for stage in stages.values() for entry in stage.nodes), key=_index)
    if device_id is None:
        raise GraphError(
            f"{node.where}: the pipeline must have a device to run this on (got device_id=None). "
            "Pass device_id=0, or keep everything on the host."
        )
    try:
        from dali_core._cuda.work_queue import WorkQueue
    except ImportError as error:
        is_ours = (error.name or "").startswith("dali_core")
        what = "a build with device code" if is_ours else "the CUDA bindings"
        by_pip = f"Run {install_command('cuda')}"
        cure = "Build it with DALI_CORE_WITH_CUDA=1" if is_ours else by_pip
        raise CudaUnavailableError(
            f"{node.where}: a GPU needs {what} (got {error}). {cure}, or keep everything on the "
            "host."
        ) from error
    try:
        return WorkQueue(device_id, priority, depth * len(stages))
    except CudaError as error:
        raise type(error)(f"{node.where}: {error}") from error


def _index(node: OperatorNode) -> int:
    return node.index


def _make_program(
    stage: PlannedStage, numbers: Mapping[OperatorNode, int], seed: int
) -> DeviceProgram:
    instructions = [
        Instruction(
            make_operator(entry.node, seed, {}, {}, {}),
            numbers[entry.node],
            entry.inputs,
            entry.arguments,
            entry.outputs,
            entry.releases,
            entry.guards,
        )
        for entry in stage.nodes
    ]
    return DeviceProgram(instructions, stage.chains)
