"""Makes what runs from the nodes of a graph: native operators, and steps in Python."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from dali_core._call.arguments import all_args
from dali_core._graph.node import OperatorNode
from dali_core._readers.order import IndexSampler
from dali_core._runtime.executor import NativeOperator
from dali_core._runtime.executor_config import ArgumentLimits
from dali_core._runtime.random import mix_seed
from dali_core._runtime.step import Step
from dali_core._spec import Range
from dali_core._storage import Storage, make_storage, storage_arguments
from dali_core._types import DALIDataType
from dali_core.errors import ArgumentValueError, GraphError, located


def make_step(node: OperatorNode) -> Step:
    """Make the step of an operator that runs in Python."""
    python_step = node.spec.python_step
    assert python_step is not None
    with located(node.where):
        step: Step = python_step.make(node.arguments)
    step.use_tensor_arguments(list(node.tensor_arguments))
    return step


def open_storages(
    nodes: Iterable[OperatorNode], readers: dict[OperatorNode, IndexSampler]
) -> dict[OperatorNode, Storage]:
    """Open the storages of operators that get URLs as data: those of readers are open."""
    found = {}
    for node in nodes:
        if node in readers or node.spec.arg("storage_options") is None:
            continue
        with located(node.where):
            found[node] = make_storage(node.opening_arguments)
    return found


def make_operator(
    node: OperatorNode,
    seed: int,
    readers: dict[OperatorNode, IndexSampler],
    reader_number: dict[OperatorNode, int],
    storages: dict[OperatorNode, Storage],
) -> NativeOperator:
    """Make the native code of an operator, in a pipeline with some seed and some readers."""
    values = node.native_arguments
    if (at_build := node.spec.native.at_build) is not None:
        values |= at_build()
    if node in readers:
        source = readers[node].source
        # Objects only decide what is read: the listing and the sampler.
        objects = {arg.name for arg in all_args(node.spec) if arg.type is object}
        values = {name: values[name] for name in values if name not in objects}
        values |= source.native_arguments() | storage_arguments(source.storage)
    if node in storages:
        values["storage"] = storages[node].reads.address
    values.pop("storage_options", None)  # native code gets `storage` in its place
    with _native_errors(node):
        return NativeOperator(
            node.native_name,
            {name: _native_value(value) for name, value in values.items() if value is not None},
            list(node.tensor_arguments),
            _seed_of(node, seed),
            reader_number.get(node, -1),
            len(node.inputs),
            len(node.outputs),
            _limits(node),
        )


def _limits(node: OperatorNode) -> list[ArgumentLimits]:
    """Describe what the values of arguments must be that come with each sample."""
    found = []
    for slot, name in enumerate(node.tensor_arguments):
        arg = node.spec.arg(name)
        if arg is None or (arg.limits is None and arg.length is None):
            continue
        limits, lengths = arg.limits or Range(), arg.lengths
        found.append(
            ArgumentLimits(
                slot=slot,
                name=name,
                least=limits.least,
                most=limits.most,
                above=limits.above,
                rule=arg.rule,
                least_length=lengths.least,
                most_length=lengths.most,
                length_rule=arg.length_rule,
            )
        )
    return found


@contextlib.contextmanager
def _native_errors(node: OperatorNode) -> Iterator[None]:
    """Raise the library's errors for those of native code."""
    try:
        yield
    except (ValueError, IndexError, OverflowError, MemoryError) as error:
        raise ArgumentValueError(f"{node.where}: {error}") from error
    except RuntimeError as error:
        raise GraphError(f"{node.where}: {error}") from error


def _seed_of(node: OperatorNode, seed: int) -> int:
    own_seed = node.arguments.get("seed", -1)
    if own_seed is not None and own_seed >= 0:
        return mix_seed(own_seed, 0)
    return mix_seed(seed, 1 + max(node.random_index, 0))


def _native_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_native_value(item) for item in value]
    return (
        int(value) if isinstance(value, (bool, DALIDataType)) or hasattr(value, "value") else value
    )
