"""NumPy arrays for dali_core: a complete adapter in a separate package."""

from __future__ import annotations

from typing import Any

import numpy

from dali_core.adapters import Adapter


class NumPyAdapter(Adapter):
    """Converts batches to NumPy arrays."""

    name = "numpy"

    def from_tensor(self, tensor: Any) -> numpy.ndarray[Any, Any]:
        """Return a view of a tensor; the array keeps its memory alive."""
        return numpy.asarray(tensor)


adapter = NumPyAdapter()
