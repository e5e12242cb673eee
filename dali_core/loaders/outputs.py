"""The outputs of a pipeline: their names, and which of them are class indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dali_core.errors import ArgumentTypeError, ArgumentValueError

if TYPE_CHECKING:
    from dali_core._graph.node import DataNode
    from dali_core.pipeline import Pipeline

_COPIES = ("copy", "device_copies.to_device", "device_copies.to_host")
"""Operators whose result is their input, in another place."""


def output_names(pipeline: Pipeline, names: Sequence[str] | None) -> list[str]:
    """Return a name for each output: those given, or those of the graph.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If they are no names, or not as many as the outputs.
    """
    outputs = pipeline._definition.define()
    if names is None:
        return _distinct([output.name for output in outputs])
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(
            f"names: must be a list of names (got {names!r}). Name every output of the pipeline, "
            'such as ("images", "labels").'
        )
    if len(names) != len(outputs) or len(set(names)) != len(names):
        raise ArgumentValueError(
            f"names: must hold a name of its own for each of the {len(outputs)} outputs of the "
            f"pipeline (got {list(names)}). Its outputs are "
            f"{', '.join(repr(output.name) for output in outputs)}."
        )
    return list(names)


def class_outputs(pipeline: Pipeline, names: Sequence[str]) -> list[str]:
    """Return the names of the outputs that come from a reader as they are."""
    outputs = pipeline._definition.define()
    return [name for name, output in zip(names, outputs, strict=True) if _is_from_reader(output)]


def label_names(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names of the outputs that are to be class indices.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If they are no names of outputs.
    """
    if isinstance(labels, str) or not isinstance(labels, Sequence):
        raise ArgumentTypeError(
            f"labels: must be a list of names of outputs, or 'auto' (got {labels!r}). Pass () to "
            "leave all outputs as they are."
        )
    if unknown := [name for name in labels if name not in names]:
        raise ArgumentValueError(
            f"labels: must be names of outputs (got {unknown}). The outputs are {list(names)}."
        )
    return list(labels)


def _is_from_reader(value: DataNode) -> bool:
    node = value.source
    if node.spec.name in _COPIES:
        return _is_from_reader(node.inputs[0])
    if node.spec.role == "merge":  # of a mixture, for example; the first input chooses
        return all(map(_is_from_reader, node.inputs[1:]))
    return node.spec.reader is not None


def _distinct(names: Sequence[str]) -> list[str]:
    """Number what is there more than once, such as a value that is given out twice."""
    counts, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if counts[name] == 1 else f"{name}_{seen[name]}")
    return found
