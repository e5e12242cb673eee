"""What a loader finds out from the graphs of its pipelines, and sets in them before they start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dali_core.errors import ArgumentConflictError, ArgumentTypeError, ArgumentValueError

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


def pad_epochs(pipelines: Sequence[Pipeline]) -> None:
    """Have readers pad each epoch to whole batches, in pipelines that are not built yet."""
    for pipeline in pipelines:
        pipeline._definition.pad_epochs()


def leading_reader(pipeline: Pipeline, reader: str | None) -> str | None:
    """Return the name of the reader whose epochs are the loader's; None if there is none.

    Raises
    ------
    ArgumentConflictError
        If it is not clear which.
    """
    if reader is not None:
        return reader
    pipeline.build()
    plans = {name: found.plan for name, found in pipeline._run.readers.leading.items()}
    if len(set(plans.values())) > 1:
        sizes = {name: plan.num_samples for name, plan in plans.items()}
        raise ArgumentConflictError(
            f"reader: must be given where readers have different epochs (got {sizes} samples). "
            "Name the one that an epoch of the loader is to follow."
        )
    return next(iter(plans), None)


def check_padded(pipeline: Pipeline, reader: str, last_batch: str) -> None:
    """Refuse a pipeline that was built before, and whose reader does not pad its epochs.

    Raises
    ------
    ArgumentConflictError
        If batches would contain samples of two epochs.
    """
    plan = pipeline._run.readers.find(reader).stream
    size = pipeline.max_batch_size
    if plan.pad_last_batch or plan.num_samples % (size * plan.num_shards) == 0:
        return
    raise ArgumentConflictError(
        f"last_batch: must be 'fill' for a pipeline that was built before, and whose reader "
        f"{reader!r} does not pad its epochs (got {last_batch!r}). Do not build the pipeline "
        "before, or pass pad_last_batch=True to the reader."
    )


def _is_from_reader(value: DataNode) -> bool:
    node = value.source
    if node.spec.name in _COPIES or node.spec.role == "merge":  # of a mixture, for example
        return all(map(_is_from_reader, node.inputs))
    return node.spec.reader is not None


def _distinct(names: Sequence[str]) -> list[str]:
    """Number what is there more than once, such as a value that is given out twice."""
    counts, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if counts[name] == 1 else f"{name}_{seen[name]}")
    return found
