"""Conversion of batches to NumPy arrays, which Ray passes between processes without copying."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core.adapters import Adapter
from dali_core.tensors import TensorGPU


class RayAdapter(Adapter):
    """Converts batches to `numpy.ndarray`; what is on a device is copied to the host."""

    name = "ray"

    def from_tensor(self, tensor: Any) -> np.ndarray[Any, Any]:
        """Return an array that shares the memory of a sample or batch on the host."""
        return np.asarray(tensor.as_cpu() if isinstance(tensor, TensorGPU) else tensor)


adapter = RayAdapter()
