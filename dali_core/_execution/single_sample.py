"""Runs a graph for one sample, beside the pipeline, and keeps what every operator makes.

A sample is a function of seed, epoch and number. So another executor, with steps of its own, makes
it without changing anything in the pipeline.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dali_core._execution.instantiation import make_step
from dali_core._execution.parameters import Parameters
from dali_core._execution.runner import Runner
from dali_core._execution.runner_options import RunnerOptions
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan
from dali_core._graph.plan.joining import joins
from dali_core._graph.plan.planner import live_nodes, make_plan
from dali_core._readers.order import IndexSampler
from dali_core._runtime.executor import Batch
from dali_core._runtime.step import FedStep, Step, StepContext, StepOutput
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._types import SampleInfo
from dali_core.batching.fixed import Fixed
from dali_core.batching.plan import Batching
from dali_core.checkpoint.position import START, Position
from dali_core.checkpoint.state import State
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    SampleError,
    SampleIndexError,
    UnknownInputError,
)


@dataclass(frozen=True)
class Inspected:
    """A pipeline of which samples are made.

    Attributes
    ----------
    nodes, outputs : sequence
        Its operators and its outputs.
    readers : dict of OperatorNode to IndexSampler
        Its readers; the first one numbers the samples.
    options : RunnerOptions
        How the pipeline runs.
    epoch, epoch_start : int and Position
        How often it was reset, and where that was last, which numbers samples without readers.
    parameters : Parameters
        Its parameters.
    """

    nodes: Sequence[OperatorNode]
    outputs: Sequence[DataNode]
    readers: Mapping[OperatorNode, IndexSampler]
    options: RunnerOptions
    epoch: int
    epoch_start: Position
    parameters: Parameters

    @property
    def live_nodes(self) -> list[OperatorNode]:
        """The operators that run, in the order of their calls."""
        return live_nodes(self.outputs, self.nodes)


@dataclass
class MadeSample:
    """What the operators made of a sample.

    Attributes
    ----------
    values : dict of DataNode to TensorCPU
        What came into being.
    errors : dict of OperatorNode to SampleError
        The operators that failed; what depends on them did not run.
    """

    values: dict[DataNode, TensorCPU]
    errors: dict[OperatorNode, SampleError]


def make_sample(
    inspected: Inspected, index: int, epoch: int, inputs: Mapping[str, Any]
) -> MadeSample:
    """Make one sample, and what its operators make on the way.

    Parameters
    ----------
    inspected : Inspected
        The pipeline.
    index, epoch : int
        Which sample: its number in the epoch.
    inputs : mapping of str to array
        Data of this sample for sources, by the names of their outputs.

    Returns
    -------
    MadeSample
        Every value, on the host.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If there is no such sample, or a source cannot say what its data is.
    UnknownInputError
        If `inputs` has data for something that takes none.
    """
    nodes = inspected.live_nodes
    for node in nodes:
        if joins(node):
            raise GraphError(
                f"Pipeline.run_sample: samples must not be joined (got {node.where}). Look at the "
                "inputs of the operator, or run the pipeline."
            )
    _check_inputs(nodes, inputs)
    whole = _needs_batch(inspected, inputs)
    place = _find_place(inspected, index, epoch, whole=whole)
    errors: dict[OperatorNode, SampleError] = {}
    others_are_bad = False
    while True:
        left = _independent(nodes, errors)
        attempt = _Attempt(inspected, left, place, inputs, replaces_failed=others_are_bad)
        values, own, has_others = attempt.run()
        if not own and has_others and not others_are_bad:
            # Good samples stand in for others of the batch, which do not matter here.
            others_are_bad = True
            continue
        if not own:
            return MadeSample(values, errors)
        errors |= own


@dataclass(frozen=True)
class _SamplePlace:
    """Which batch to run, and which sample of it is meant.

    Attributes
    ----------
    state : State
        The state before the batch.
    batching : Batching
        Batches that are run: those of the pipeline, or single samples.
    size : int
        Samples in the batch.
    in_batch : int
        Place of the sample in it.
    info : SampleInfo
        What sources know the sample by, in the pipeline itself.
    batch : int
        Number of the pipeline's own batch that has it.
    """

    state: State
    batching: Batching
    size: int
    in_batch: int
    info: SampleInfo
    batch: int


class _OwnInputs(Step):
    """Calls a step with inputs that it may change: copies, for the originals are shown."""

    def __init__(self, step: Step) -> None:
        self._step = step

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Compute the outputs for one batch."""
        return self._step.run(context, [_writable(batch) for batch in inputs])

    def accept_on_device(self, outputs: Any) -> None:
        """Pass the outputs on to the wrapped step."""
        self._step.accept_on_device(outputs)

    def use_device(self, stream: Any, num_threads: int) -> None:
        """Pass stream and threads on to the wrapped step."""
        self._step.use_device(stream, num_threads)

    def use_threads(self, num_threads: int) -> None:
        """Pass the number of threads on to the wrapped step."""
        self._step.use_threads(num_threads)

    def use_source(self, source: Any) -> None:
        """Pass the data set on to the wrapped step."""
        self._step.use_source(source)


class _Attempt:
    """One run of some operators."""

    def __init__(
        self,
        inspected: Inspected,
        nodes: Sequence[OperatorNode],
        place: _SamplePlace,
        inputs: Mapping[str, Any],
        *,
        replaces_failed: bool,
    ) -> None:
        self._place = place
        self._plan = _plan_to_keep_all(inspected, nodes)
        self._nodes = [entry.node for stage in self._plan.stages for entry in stage.nodes]
        self._fed: list[tuple[FedStep, int, Any]] = []
        options = inspected.options
        steps = {
            node: self._step(node, inputs) for node in nodes if node.spec.python_step is not None
        }
        self._runner = Runner(
            self._plan,
            # All of them, for the first one numbers the samples even if it fails.
            dict(inspected.readers),
            RunnerOptions(
                batching=place.batching,
                num_threads=min(options.num_threads, place.size),
                seed=options.seed,
                asynchronous=False,
                replaces_failed=replaces_failed,
                num_io_threads=0,
                device_id=options.device_id,
                depth=1,
            ),
            steps,
            inspected.parameters.of_batch(place.batch),
        )

    def run(self) -> tuple[dict[DataNode, TensorCPU], dict[OperatorNode, SampleError], bool]:
        """Return all values of the sample, its errors, and whether other samples have some."""
        runner = self._runner
        try:
            runner.restore(self._place.state)
            for step, output, data in self._fed:
                batches = step.copied([data] * self._place.size, "", output=output)
                step.feed(batches, output)
            batch = runner.submit()
            runner.call_sources(batch)
            has_data = runner.wait(batch)
            if not has_data or self._place.in_batch >= batch.size:
                raise SampleIndexError(
                    "Pipeline.run_sample: index must be that of a sample (got "
                    f"{self._place.info.idx_in_epoch}, and the sources end before). Pass a "
                    "smaller one."
                )
            failures = sorted(batch.failures() + batch.replaced())
            cause = _raised(runner, batch)
            if runner.stream is not None:
                runner.stream.synchronize()
            own = [failure for failure in failures if failure[0] in (-1, self._place.in_batch)]
            errors = dict(self._described(failure, cause) for failure in own)
            return self._values(batch), errors, len(own) < len(failures)
        finally:
            runner.forget_failures()
            runner.close()

    def _step(self, node: OperatorNode, inputs: Mapping[str, Any]) -> Step:
        python_step = node.spec.python_step
        assert python_step is not None
        if node.dependencies:
            return _OwnInputs(make_step(node))
        arguments, access = node.arguments, python_step.access
        given = {value.index: inputs[value.name] for value in node.outputs if value.name in inputs}
        if access is not None:
            arguments = self._arguments(node, given)
        step: Step = python_step.make(arguments)
        if not step.is_fed:
            return step
        missing = [value.name for value in node.outputs if value.index not in given]
        if missing:
            raise ArgumentTypeError(
                f"{node.where}: inputs must have the data of the sample, since the program feeds "
                f"it (got none for {', '.join(map(repr, missing))}). Pass "
                f"inputs={{{missing[0]!r}: array}}."
            )
        assert isinstance(step, FedStep)
        self._fed += [(step, output, data) for output, data in given.items()]
        return step

    def _arguments(self, node: OperatorNode, given: Mapping[int, Any]) -> dict[str, Any]:
        assert node.spec.python_step is not None
        access = node.spec.python_step.access
        assert access is not None
        if given:
            return access.fed(node.arguments)
        own = access.sample(node.arguments, self._place.info) if self._place.size == 1 else None
        try:
            return access.batch(node.arguments) if own is None else own
        except ArgumentTypeError as error:
            raise ArgumentTypeError(f"{node.where}: {error}") from None

    def _values(self, batch: Batch) -> dict[DataNode, TensorCPU]:
        executor, stream = self._runner.executor, self._runner.stream
        found = {}
        entries = [entry for stage in self._plan.stages for entry in stage.nodes]
        for entry in [*self._plan.parameters, *entries]:
            for value, number in zip(entry.node.outputs, entry.outputs, strict=True):
                tensor = executor.value(batch, number, self._place.in_batch, stream)
                if tensor is not None:
                    found[value] = tensor.as_cpu()
        return found

    def _described(
        self, failure: tuple[int, int, str, str], cause: BaseException | None
    ) -> tuple[OperatorNode, SampleError]:
        sample, number, message, source = failure
        node = self._nodes[max(number, 0)]
        error = SampleError(
            message,
            operator=node.operator,
            location=node.location,
            epoch=self._place.info.epoch_idx,
            iteration=self._place.info.iteration,
            sample=None if sample < 0 else self._place.info.idx_in_batch,
            source=source or None,
        )
        if cause is not None and node.spec.python_step is not None:
            error.__cause__ = cause
        return node, error


def _raised(runner: Runner, batch: Batch) -> BaseException | None:
    """Return what a function of the user raised for a batch, if it failed."""
    try:
        runner.outputs(batch)
    except SampleError as error:
        return error.__cause__
    except Exception as error:  # of a source, as it is
        return error
    return None


def _plan_to_keep_all(inspected: Inspected, nodes: Sequence[OperatorNode]) -> ExecutionPlan:
    """Plan operators one by one, with nothing released before the end."""
    joint = make_plan(inspected.outputs, inspected.nodes, optimize=False).joint
    outputs = [value for node in nodes for value in node.outputs]
    plan = make_plan(outputs, nodes, optimize=False, joint=joint)
    plan.outputs, plan.joined_outputs, plan.outputs_on_device = [], [], []
    for stage in plan.stages:
        for entry in stage.nodes:
            entry.releases = []
    return plan


def _independent(
    nodes: Iterable[OperatorNode], failed: Mapping[OperatorNode, SampleError]
) -> list[OperatorNode]:
    """List the operators that depend on none that has failed."""
    left: list[OperatorNode] = []
    out = set(failed)
    for node in nodes:
        if node in out or any(value.source in out for value in node.dependencies):
            out.add(node)
        else:
            left.append(node)
    return left


def _needs_batch(inspected: Inspected, inputs: Mapping[str, Any]) -> bool:
    """Return whether the sample depends on others of its batch, so that all must be made."""
    if len({reader.plan for reader in inspected.readers.values()}) > 1:
        return True  # their epochs have different lengths in batches
    for node in inspected.live_nodes:
        step = node.spec.python_step
        if step is None:
            if node.spec.reads_batch:
                return True
        elif node.dependencies:
            if step.reads_batch(node.arguments):
                return True
        elif not any(value.name in inputs for value in node.outputs):
            is_alone = (
                step.access is not None
                and step.access.sample(node.arguments, SampleInfo(0, 0, 0, 0)) is not None
            )
            if not is_alone:
                return True
    return False


def _find_place(inspected: Inspected, index: int, epoch: int, *, whole: bool) -> _SamplePlace:
    given = inspected.options.batching
    # Samples are numbered in the order of the epoch, whichever batches they are in.
    batching = Fixed(1) if given.by_lengths else given
    run_batching = batching if whole else Fixed(1)
    where = "Pipeline.run_sample"
    for name, number in (("index", index), ("epoch", epoch)):
        if not isinstance(number, numbers.Integral) or isinstance(number, bool):
            raise ArgumentTypeError(
                f"{where}: {name} must be an int (got {number!r}, a {type(number).__name__})."
            )
    index, epoch = int(index), int(epoch)
    if index < 0 or epoch < 0:
        raise ArgumentValueError(
            f"{where}: index and epoch must not be negative (got {index} and {epoch}). Count both "
            "from 0."
        )
    first = next(iter(inspected.readers.values()), None)
    if first is not None:
        count = first.plan.shard_size(epoch)
        if index >= count:
            raise SampleIndexError(
                f"{where}: index must be below {count}, the number of samples that epoch {epoch} "
                f"of {next(iter(inspected.readers)).name!r} has (got {index}). Pass a smaller one."
            )
        start = START
        plan, own = run_batching.plan(first.plan), batching.plan(first.plan)
        position = plan.epoch_start(epoch) + index
        at = own.epoch_start(epoch) + index
        batch, in_batch = own.find(at)
        info = SampleInfo(at, in_batch, batch, 0)
    else:
        if epoch not in (0, inspected.epoch):
            raise ArgumentValueError(
                f"{where}: epoch must be 0 or that which the pipeline is in, {inspected.epoch}, "
                f"since only sources know where others begin (got {epoch}). Reset the pipeline at "
                "the end of the epoch, or use a reader."
            )
        start = inspected.epoch_start if epoch else START
        plan = run_batching.plan().starting(start.batch, start.sample)
        own = batching.plan().starting(start.batch, start.sample)
        position = start.sample + index
        batch, in_batch = own.find(position)
        info = SampleInfo(index, in_batch, batch - start.batch, epoch)
    run_batch, place = plan.find(position)
    begin = position - place
    before = Position(run_batch, begin, start.given + begin - start.sample)
    state = State(before, 0 if first is not None else epoch, start)
    return _SamplePlace(state, run_batching, plan.size(run_batch), place, info, batch)


def _check_inputs(nodes: Sequence[OperatorNode], inputs: Mapping[str, Any]) -> None:
    names = [
        value.name
        for node in nodes
        if node.spec.python_step is not None and node.spec.is_source
        for value in node.outputs
    ]
    for name in inputs:
        if name not in names:
            raise UnknownInputError(
                "Pipeline.run_sample: inputs must name sources that the outputs depend on (got "
                f"{name!r}). There are: {', '.join(map(repr, names)) or 'none'}."
            )


def _writable(batch: Any) -> Any:
    return TensorListCPU([sample.__deepcopy__({}) for sample in batch], contiguous=False)
