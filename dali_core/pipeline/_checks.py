"""Checks around a pipeline: its arguments, its outputs, and how it is driven."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dali_core._execution.bad_samples import DEFAULT_LIMIT
from dali_core._graph.context import user_location
from dali_core._graph.node import DataNode
from dali_core._runtime.tensors import TensorListCPU
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError, PipelineStateError
from dali_core.types import PipelineAPIType


def positive_int(name: str, value: Any) -> int:
    """Check an argument of `Pipeline` that counts something."""
    if value is None or isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(
            f"Pipeline at {user_location()}: {name} must be a positive int (got {value!r}). "
            f"Pass {name}=..."
        )
    if not 0 < int(value) < 2**30:
        raise ArgumentValueError(
            f"Pipeline at {user_location()}: {name} must be positive (got {value}). "
            f"Pass {name}=1 or more."
        )
    return int(value)


def prefetch_depth(value: int | Mapping[str, int]) -> int:
    """Check `prefetch_queue_depth` and give the number of batches that it means on the host."""
    if isinstance(value, Mapping):
        if set(value) != {"cpu_size", "gpu_size"}:
            raise ArgumentValueError(
                f"Pipeline at {user_location()}: prefetch_queue_depth must have the keys "
                f"'cpu_size' and 'gpu_size' (got {sorted(value)}). Pass an int for both."
            )
        value = value["cpu_size"]
    return positive_int("prefetch_queue_depth", value)


def bad_sample_limit(on_sample_error: Any, limit: Any) -> float | None:
    """Check `on_sample_error` and `max_bad_samples`, and give the limit with its default."""
    where = f"Pipeline at {user_location()}"
    if on_sample_error not in ("raise", "replace"):
        raise ArgumentValueError(
            f"{where}: on_sample_error must be 'raise' or 'replace' (got {on_sample_error!r})."
        )
    if limit is None:
        return DEFAULT_LIMIT
    if on_sample_error == "raise":
        raise ArgumentValueError(
            f"{where}: max_bad_samples must be left out with on_sample_error='raise' (got "
            f"{limit!r}), since the first bad sample raises. Pass on_sample_error='replace'."
        )
    if isinstance(limit, bool) or not isinstance(limit, (int, float)):
        raise ArgumentTypeError(
            f"{where}: max_bad_samples must be an int, a float or None (got {limit!r}). Pass a "
            "number of samples, or their share of an epoch."
        )
    if limit < 0 or (isinstance(limit, float) and not 0 < limit <= 1):
        raise ArgumentValueError(
            f"{where}: max_bad_samples must be an int from 0 on, or a float above 0 and up to 1 "
            f"(got {limit}). Pass a number of samples, or their share of an epoch."
        )
    return limit


def checkpoint_data(value: Any) -> str | bytes | None:
    """Check `checkpoint`."""
    if value is None or isinstance(value, (str, bytes)):
        return value
    raise ArgumentTypeError(
        f"Pipeline at {user_location()}: checkpoint must be bytes, str or None (got a "
        f"{type(value).__name__}). Pass what Pipeline.checkpoint returned; a dict goes to "
        "load_state_dict."
    )


def check_output_node(number: int, value: Any, graph: object, location: str) -> None:
    """Check that a value may be an output of the pipeline with this graph."""
    if not isinstance(value, DataNode):
        hint = (
            "Unpack it, or return tuple(...) of it."
            if isinstance(value, (list, tuple))
            else "Return results of operators."
        )
        raise GraphError(
            f"Pipeline made at {location}: output {number} must be a DataNode "
            f"(got a {type(value).__name__}). {hint}"
        )
    if value.owner is not graph:
        raise GraphError(
            f"Pipeline made at {location}: output {number} must belong to this pipeline "
            f"(got {value.name!r} of another one)."
        )


def check_outputs(outputs: tuple[TensorListCPU, ...], dtype: Any, ndim: Any) -> None:
    """Compare outputs with what `output_dtype` and `output_ndim` of a pipeline announce."""
    checks: tuple[tuple[str, Any, Callable[[TensorListCPU], object]], ...] = (
        ("output_dtype", dtype, lambda batch: batch.dtype),
        ("output_ndim", ndim, lambda batch: batch.ndim()),
    )
    for what, wanted, actual in checks:
        if wanted is None:
            continue
        each = wanted if isinstance(wanted, (list, tuple)) else [wanted] * len(outputs)
        if len(each) != len(outputs):
            raise ArgumentValueError(
                f"Pipeline: {what} must have an entry for each of the {len(outputs)} outputs "
                f"(got {len(each)})."
            )
        for number, (expected, batch) in enumerate(zip(each, outputs, strict=True)):
            if expected is not None and actual(batch) != expected:
                raise GraphError(
                    f"Pipeline: output {number} must have {what} {expected} (got "
                    f"{actual(batch)}). Change {what} or cast the output."
                )


class ApiCheck:
    """Refuses to mix groups of run methods; nested calls belong to the outermost group."""

    def __init__(self) -> None:
        self.is_enabled = True
        self._group: PipelineAPIType | None = None
        self._depth = 0

    @contextlib.contextmanager
    def calls(self, group: PipelineAPIType) -> Iterator[None]:
        """Mark the body of a method that belongs to a group."""
        if self._depth == 0:
            if self.is_enabled and self._group not in (None, group):
                assert self._group is not None
                raise PipelineStateError(
                    f"Pipeline: run methods of one group must be used (this is {group.name}, "
                    f"before it was {self._group.name}). Use either run, or schedule_run with "
                    "share_outputs and release_outputs."
                )
            self._group = group
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
