"""Results of a pipeline's steps for one sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._display.html import block, image, table
from dali_core._display.png import png_url, thumbnail
from dali_core._display.tensors import as_picture, numbers_text
from dali_core._execution.single_sample import Inspected, MadeSample, make_sample
from dali_core._graph.node import Condition, OperatorNode
from dali_core._messages import printable
from dali_core.errors import SampleError, title_of
from dali_core.inspection.boxes import box_format, check_formats

_SIDE = 96


@dataclass(frozen=True)
class StepValue:
    """One output of an operator, for one sample.

    Attributes
    ----------
    name : str
        Name of the value, such as ``"images"`` or ``"readers_file_0[1]"``.
    array : array
        The data, which the caller may keep and change.
    layout : str
        Meaning of the dimensions, such as ``"HWC"``; empty if it is not known.
    source : str
        File that the data is from; empty if it is not known.
    outputs : tuple of int
        Which outputs of the pipeline it is.
    boxes : str
        For boxes, how they are written: ``"ltrb"`` or ``"xywh"``; otherwise empty.
    """

    name: str
    array: NDArray[Any]
    layout: str
    source: str
    outputs: tuple[int, ...] = ()
    boxes: str = ""


@dataclass(frozen=True)
class SampleStep:
    """What one operator of a pipeline made of a sample.

    Attributes
    ----------
    name : str
        Name of the operator's use, unique in the pipeline.
    operator : str
        Name of the operator, such as ``"fn.resize"``.
    location : str
        File and line of the user's program.
    device : str
        Where it ran: ``"cpu"`` or ``"gpu"``. Arrays are on the host in any case.
    inputs : tuple of str
        Names of the values that it got, as inputs and as arguments.
    values : tuple of StepValue
        Its outputs; empty if it did not run or failed.
    error : SampleError or None
        Why it failed.
    reason : str
        Why it did not run, although it did not fail; otherwise empty.
    """

    name: str
    operator: str
    location: str
    device: str
    inputs: tuple[str, ...] = ()
    values: tuple[StepValue, ...] = ()
    error: SampleError | None = None
    reason: str = ""

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays of `values`."""
        return tuple(value.array for value in self.values)


class InspectedSample(Mapping[str, SampleStep]):
    """The steps of a pipeline for one sample, by their names, in the order of their calls.

    Parameters
    ----------
    index, epoch : int
        Which sample it is.
    steps : sequence of SampleStep
        The steps.
    num_outputs : int
        How many outputs the pipeline has.

    Attributes
    ----------
    index, epoch : int
        Which sample it is.
    """

    def __init__(
        self, index: int, epoch: int, steps: Sequence[SampleStep], num_outputs: int
    ) -> None:
        self.index = index
        self.epoch = epoch
        self._steps = {step.name: step for step in steps}
        self._num_outputs = num_outputs

    def __getitem__(self, name: str) -> SampleStep:
        return self._steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def outputs(self) -> tuple[NDArray[Any] | None, ...]:
        """The outputs of the pipeline; None for those that do not exist, as a step failed."""
        found = {
            number: value.array
            for step in self.values()
            for value in step.values
            for number in value.outputs
        }
        return tuple(found.get(number) for number in range(self._num_outputs))

    @property
    def source(self) -> str:
        """File that the sample is from; empty if it is not known."""
        sources = [value.source for step in self.values() for value in step.values]
        sources += [step.error.source or "" for step in self.values() if step.error is not None]
        return next(filter(None, sources), "")

    @property
    def error(self) -> SampleError | None:
        """The first error of a step; None if all went well."""
        return next((step.error for step in self.values() if step.error is not None), None)

    def __repr__(self) -> str:
        return f"InspectedSample(index={self.index}, epoch={self.epoch}, {len(self)} steps)"

    def __str__(self) -> str:
        source = f", {self.source}" if self.source else ""
        lines = [f"sample {self.index} of epoch {self.epoch}{source}"]
        lines += [f"  {step.operator} ({step.name}): {describe(step)}" for step in self.values()]
        return "\n".join(map(printable, lines))

    def _repr_html_(self) -> str:
        """Show the steps in a notebook, with the values that are pictures."""
        source = f", {self.source}" if self.source else ""
        return block(
            table(
                ("operator", "line", "value", ""),
                (row for step in self.values() for row in _rows(step)),
                caption=f"sample {self.index} of epoch {self.epoch}{source}",
            )
        )


def _rows(step: SampleStep) -> Iterator[tuple[object, ...]]:
    """Return a row for each value of a step, or one that says why there is none."""
    if not step.values:
        yield step.operator, step.location, describe(step), ""
    for number, value in enumerate(step.values):
        first = (step.operator, step.location) if number == 0 else ("", "")
        yield *first, f"{value.name}: {describe_value(value)}", _view(value)


def _view(value: StepValue) -> object:
    picture = as_picture(value.array, value.layout)
    if picture is None:
        return numbers_text(value.array)
    small = thumbnail(picture, _SIDE)
    height, width = small.shape[:2]
    return image(png_url(small), width, height, value.name)


def describe(step: SampleStep) -> str:
    """Return shapes and types of what a step made, or why there is nothing."""
    if step.error is not None:
        return f"failed: {step.error.message}"
    if step.reason:
        return step.reason
    return ", ".join(describe_value(value) for value in step.values) or "no outputs"


def describe_value(value: StepValue) -> str:
    """Return layout, shape and type of an array."""
    shape = " x ".join(map(str, value.array.shape)) or "scalar"
    layout = f"{value.layout} " if value.layout else ""
    return f"{layout}{shape} {value.array.dtype}"


def inspect_sample(
    inspected: Inspected,
    index: int,
    epoch: int,
    inputs: Mapping[str, Any] | None = None,
    boxes: Mapping[str, str] | None = None,
) -> InspectedSample:
    """Make a sample; see `Pipeline.run_sample`, and `Pipeline.show` for `boxes`."""
    nodes = inspected.live_nodes
    check_formats(boxes or {}, [value.name for node in nodes for value in node.outputs])
    made = make_sample(inspected, index, epoch, inputs or {})
    steps = [_step(inspected, node, made, boxes or {}) for node in nodes]
    return InspectedSample(index, epoch, steps, len(inspected.outputs))


def _step(
    inspected: Inspected, node: OperatorNode, made: MadeSample, boxes: Mapping[str, str]
) -> SampleStep:
    values = []
    for value in node.outputs:
        tensor = made.values.get(value)
        if tensor is None:
            continue
        places = (number for number, output in enumerate(inspected.outputs) if output is value)
        array = np.array(tensor)
        form = boxes.get(value.name) or box_format(value)
        values.append(
            StepValue(value.name, array, tensor.layout(), tensor.source_info(), tuple(places), form)
        )
    inputs = (*node.inputs, *node.tensor_arguments.values())
    return SampleStep(
        name=node.name,
        operator=title_of(node.operator),
        location=node.location,
        device=node.device,
        inputs=tuple(value.name for value in inputs),
        values=tuple(values),
        error=made.errors.get(node),
        reason="" if values or not node.outputs or node in made.errors else _reason(node, made),
    )


def _reason(node: OperatorNode, made: MadeSample) -> str:
    """Return why an operator did not run."""
    for condition in node.conditions:
        decided = made.values.get(condition.predicate)
        if decided is not None and bool(np.array(decided)) != condition.wanted:
            return f"not run: {_opposite(condition)}"
    return "not run: a step before it failed"


def _opposite(condition: Condition) -> str:
    return f"{condition.predicate.name} is {not condition.wanted}"
