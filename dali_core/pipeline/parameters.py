"""Values that the program changes while a pipeline runs."""

from __future__ import annotations

from typing import Any

from dali_core._call.location import user_location
from dali_core._constants import constant_arguments
from dali_core._graph.graph import add_operator
from dali_core._graph.node import DataNode
from dali_core._registry.specs import spec_of_role
from dali_core.errors import ArgumentTypeError, located
from dali_core.pipeline._parts import PipelineParts


def parameter(name: str, initial: Any) -> DataNode:
    """Return a value that is the same for all samples of a batch, and may change between batches.

    `Pipeline.set_parameter` changes it. It can be used wherever an argument may come with each
    sample, as an input, and in expressions and conditions.

    Parameters
    ----------
    name : str
        Name of the parameter, unique among the operators of the pipeline.
    initial : number, list or array
        Value at first. Its type is that of a constant: ``INT32``, ``FLOAT`` or ``BOOL`` for
        Python's numbers, otherwise that of the array, but at most 32 bits wide.

    Returns
    -------
    DataNode
        The value.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the value is none of these.
    GraphError
        If the name is taken.
    """
    where = f"parameter at {user_location()}"
    if not isinstance(name, str) or not name:
        raise ArgumentTypeError(
            f"{where}: name must be a text (got {name!r:.100}). Pass a name for set_parameter."
        )
    with located(where):
        described = constant_arguments(initial)
    node = add_operator(spec_of_role("parameter"), (), {**described, "name": name})
    assert isinstance(node, DataNode)
    return node


class PipelineParameters(PipelineParts):
    """The method of `Pipeline` that changes parameters."""

    def set_parameter(self, name: str, value: Any, from_batch: int | None = None) -> int:
        """Change the value of a parameter from a batch on.

        Batches in flight keep the value that they were started with. Changes are part of the state.

        Parameters
        ----------
        name : str
            Name of a `parameter`.
        value : number, list or array
            The value, of the same type and number of dimensions as the initial one.
        from_batch : int, optional
            Number of the first batch that has it, counted from 0 since the pipeline was built, over
            all epochs. By default the first one that has not been started, which depends on the
            prefetch depth: processes of a job that must change at the same batch have to pass it.

        Returns
        -------
        int
            Number of the first batch that has the value.

        Raises
        ------
        UnknownInputError
            If the outputs depend on no such parameter.
        ArgumentTypeError, ArgumentValueError
            If the value has another type or number of dimensions, or the batch has been started.
        """
        self._run.check_caller()
        runner = self._states.start()
        return self._run.parameters.set(name, value, from_batch, runner.iteration)
