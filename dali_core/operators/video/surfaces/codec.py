"""PyNvVideoCodec, and what is kept of the videos that it has seen."""

from __future__ import annotations

import importlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from dali_core.errors import CudaError
from dali_core.operators.video.frame_index import FrameIndex, open_indices

_MODULE = "PyNvVideoCodec"
_Value = TypeVar("_Value")


def load_codec() -> Any:
    """Import PyNvVideoCodec, which loads the driver's libraries.

    Raises
    ------
    CudaError
        The machine has not what it needs.
    """
    try:
        return importlib.import_module(_MODULE)
    except (ImportError, RuntimeError, OSError) as error:
        raise CudaError(
            "PyNvVideoCodec must be able to start (got "
            f"{str(error).splitlines()[0] if str(error) else type(error).__name__}). It needs the "
            "driver's libraries for videos; or set DALI_CORE_GPU_VIDEO=0 to decode on the host."
        ) from error


class LatestOnly(Generic[_Value]):
    """A bounded number of values by path: a least-recently-used cache."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, _Value] = OrderedDict()

    def get(self, path: str, make: Callable[[str], _Value]) -> _Value:
        """Return the value of a path, which `make` makes if need be."""
        if path in self._values:
            self._values.move_to_end(path)
        else:
            self._values[path] = make(path)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        return self._values[path]

    def drop(self, path: str) -> None:
        """Remove a value."""
        self._values.pop(path, None)


class IndexOf:
    """Gives indices of files, from the cache that readers have filled."""

    def __init__(self) -> None:
        self._known: LatestOnly[FrameIndex | None] = LatestOnly(256)

    def __call__(self, path: str) -> FrameIndex | None:
        """Return the index of a file; None if it has none."""
        return self._known.get(path, _open)


def _open(path: str) -> FrameIndex | None:
    (index,) = open_indices([path], progress=False)
    return index if isinstance(index, FrameIndex) else None
