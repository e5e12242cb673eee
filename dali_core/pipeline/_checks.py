"""Checks around a pipeline: its arguments, and how it is driven."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from typing import Any, TypeVar

from dali_core._call.location import user_location
from dali_core._execution.bad_samples import DEFAULT_LIMIT
from dali_core._messages import shown
from dali_core.batching.fixed import MAX_SAMPLES
from dali_core.errors import (
    ArgumentKeyError,
    ArgumentTypeError,
    ArgumentValueError,
    PipelineStateError,
)
from dali_core.types import PipelineAPIType

MAX_THREADS = 4096

Choice = TypeVar("Choice", bound=enum.Enum)


def is_left_out(value: Any) -> bool:
    """Return whether an argument has the value that means "not given"."""
    return value is None or (isinstance(value, int) and value == -1)


def positive_int(name: str, value: Any) -> int:
    """Check an argument of `Pipeline` that counts something."""
    if value is None or isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(
            f"Pipeline at {user_location()}: {name} must be a positive int (got {shown(value)}). "
            f"Pass {name}=..."
        )
    return in_range(name, int(value), 1, MAX_SAMPLES)


def in_range(name: str, value: int, least: int, most: int) -> int:
    """Check an argument of `Pipeline` that is a number in a range."""
    if not least <= value <= most:
        rule = "positive" if least == 1 and value < 1 else f"from {least} to {most}"
        raise ArgumentValueError(
            f"Pipeline at {user_location()}: {name} must be {rule} (got {shown(value)}). Pass "
            f"another {name}."
        )
    return value


def thread_count(value: Any) -> int:
    """Check `num_threads`, or count the processors that this process may use."""
    if not is_left_out(value):
        count = positive_int("num_threads", value)
        if count > MAX_THREADS:
            raise ArgumentValueError(
                f"Pipeline at {user_location()}: num_threads must be at most {MAX_THREADS} (got "
                f"{count}). More threads than processors gain nothing."
            )
        return count
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def optional_int(name: str, value: Any, least: int = -(2**31), most: int = 2**31 - 1) -> int | None:
    """Check an argument of `Pipeline` that is an int in a range, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(
            f"Pipeline at {user_location()}: {name} must be an int or None (got {shown(value)}). "
            f"Leave out {name}."
        )
    return in_range(name, int(value), least, most)


def optional_enum(name: str, value: Any, kind: type[Choice]) -> Choice | None:
    """Check an argument of `Pipeline` that is a member of an enumeration or None."""
    if value is None or isinstance(value, kind):
        return value
    raise ArgumentTypeError(
        f"Pipeline at {user_location()}: {name} must be a {kind.__name__} or None (got {value!r}). "
        f"Use one of {', '.join(map(str, kind))}."
    )


def prefetch_depth(value: int | Mapping[str, int]) -> int:
    """Check `prefetch_queue_depth` and give the number of batches that it means on the host."""
    if isinstance(value, Mapping):
        if set(value) != {"cpu_size", "gpu_size"}:
            raise ArgumentKeyError(
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
            f"(got {shown(limit)}). Pass a number of samples, or their share of an epoch."
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


class ApiCheck:
    """Refuses to mix groups of run methods.

    Attributes
    ----------
    is_enabled : bool
        Whether it refuses that.
    group : PipelineAPIType or None
        The group of the last call.
    """

    def __init__(self) -> None:
        self.is_enabled = True
        self.group: PipelineAPIType | None = None

    def note(self, group: PipelineAPIType) -> None:
        """Note that a method of a group is called; raise if that mixes groups."""
        if self.is_enabled and self.group not in (None, group):
            assert self.group is not None
            raise PipelineStateError(
                f"Pipeline: run methods of one group must be used (this is {group.name}, "
                f"before it was {self.group.name}). Use either run, or schedule_run with "
                "share_outputs and release_outputs."
            )
        self.group = group
