"""CUDA streams: there are none, since calls are computed on the host."""

from __future__ import annotations

from typing import Any, NoReturn

from dali_core._call.location import user_location
from dali_core.errors import CudaUnavailableError


class Stream:
    """A CUDA stream; there is none.

    Raises
    ------
    CudaUnavailableError
        Always.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("Stream")


_MISSING: Any = object()


def stream(stream: Any = _MISSING, device_id: int | None = None) -> Any:
    """Return the stream that a value names: None for None.

    Raises
    ------
    CudaUnavailableError
        For any other value, and without one.
    """
    return None if stream is None else _refuse("stream")


def get_current_stream() -> None:
    """Return the stream of this thread: None."""


def get_default_stream() -> None:
    """Return the stream of threads that have none of their own: None."""


def set_current_stream(stream: Any) -> None:
    """Set the stream of this thread; only None is possible."""
    if stream is not None:
        _refuse("set_current_stream")


def set_default_stream(stream: Any) -> None:
    """Set the stream of threads that have none of their own; only None is possible."""
    if stream is not None:
        _refuse("set_default_stream")


def _refuse(what: str) -> NoReturn:
    raise CudaUnavailableError(
        f"{what} at {user_location()}: this API computes on the host only. Pass None, or use a "
        "pipeline with device='gpu'."
    )
