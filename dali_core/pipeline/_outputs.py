"""Outputs of a pipeline: the values of its graph, and the expected types of their batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._call.location import user_location
from dali_core._constants import is_constant
from dali_core._graph.constants import add_constant
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_list_gpu import TensorListGPU
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError
from dali_core.types import NO_TYPE, DALIDataType


def output_node(value: Any) -> Any:
    """Make a node of a number, a list of numbers or an array; return all else as it is."""
    is_list = isinstance(value, (list, tuple))
    if not is_constant(value) or (is_list and any(isinstance(entry, DataNode) for entry in value)):
        return value
    return add_constant(value)


def graph_value(what: str, value: Any, graph: Graph) -> DataNode:
    """Return the version of a value that belongs to the graph of a pipeline; see `Graph.own`."""
    what = f"Pipeline made at {graph.location}: {what}"
    if not isinstance(value, DataNode):
        hint = (
            "Unpack it, or return tuple(...) of it."
            if isinstance(value, (list, tuple))
            else "Return results of operators."
        )
        raise ArgumentTypeError(f"{what} must be a DataNode (got a {type(value).__name__}). {hint}")
    return graph.own(value, what)


def graph_output(number: int, value: Any, graph: Graph) -> DataNode:
    """Return a value that is an output of the pipeline with this graph."""
    node = graph_value(f"output {number}", value, graph)
    if node.source.conditions:
        raise GraphError(
            f"Pipeline made at {graph.location}: output {number} must exist for all samples (got "
            f"{node.name!r}, made in a branch that others do not take by {node.source.where}). "
            "Assign it to a variable in both branches."
        )
    return node


class ExpectedOutputs:
    """What `output_dtype`, `output_ndim` and `output_layout` of a pipeline announce.

    Parameters
    ----------
    dtype, ndim, layout : optional
        One value for all outputs, or a sequence of one for each. None allows any.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a value cannot describe an output.
    """

    def __init__(self, dtype: Any, ndim: Any, layout: Any) -> None:
        _check("output_dtype", dtype, DALIDataType, "a types.DALIDataType", _is_real_type)
        _check("output_ndim", ndim, int, "an int", lambda value: value >= 0)
        _check("output_layout", layout, str, "a str", lambda value: True)
        self._values = {"output_dtype": dtype, "output_ndim": ndim, "output_layout": layout}

    def each(self, name: str, count: int) -> list[Any]:
        """Return what is expected of each of `count` outputs.

        Raises
        ------
        GraphError
            If there is another number of values.
        """
        value = self._values[name]
        each = list(value) if isinstance(value, (list, tuple)) else [value] * count
        if len(each) != count:
            raise GraphError(
                f"Pipeline: {name} must have an entry for each of the {count} outputs "
                f"(got {len(each)}). Add None for outputs of any kind."
            )
        return each

    def check_count(self, count: int) -> None:
        """Check that the pipeline has as many outputs as are described."""
        for name in self._values:
            self.each(name, count)

    def check(self, outputs: Sequence[TensorListCPU | TensorListGPU]) -> None:
        """Compare a batch with what is expected.

        Raises
        ------
        GraphError
            If it differs.
        """
        for name, actual in _ACTUAL.items():
            if self._values[name] is None:
                continue
            wanted = self.each(name, len(outputs))
            for number, (expected, batch) in enumerate(zip(wanted, outputs, strict=True)):
                if expected not in (None, "") and actual(batch) != expected:
                    raise GraphError(
                        f"Pipeline: output {number} must have {name} {expected!r} (got "
                        f"{actual(batch)!r}). Change {name}, or the graph."
                    )


_ACTUAL: dict[str, Callable[[TensorListCPU | TensorListGPU], Any]] = {
    "output_dtype": lambda batch: batch.dtype,
    "output_ndim": lambda batch: batch.ndim(),
    "output_layout": lambda batch: batch.layout(),
}


def _is_real_type(value: Any) -> bool:
    return value is not NO_TYPE


def _check(
    name: str, value: Any, kind: type, what: str, is_possible: Callable[[Any], bool]
) -> None:
    for entry in value if isinstance(value, (list, tuple)) else [value]:
        if entry is None:
            continue
        if not isinstance(entry, kind) or isinstance(entry, bool):
            raise ArgumentTypeError(
                f"Pipeline at {user_location()}: {name} must be {what}, a list of these and of "
                f"None, or None (got {entry!r}, a {type(entry).__name__})."
            )
        if not is_possible(entry):
            raise ArgumentValueError(
                f"Pipeline at {user_location()}: {name} must describe an output (got {entry!r}). "
                "Use None for any."
            )
