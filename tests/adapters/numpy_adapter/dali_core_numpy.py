"""NumPy arrays for dali_core: all that an adapter in a package of its own needs."""

from __future__ import annotations

from typing import Any

import numpy

from dali_core.adapters import Adapter


class NumPyAdapter(Adapter):
    """Hands batches over as NumPy arrays."""

    name = "numpy"

    def from_tensor(self, tensor: Any) -> numpy.ndarray[Any, Any]:
        """View a tensor, whose memory the array keeps alive."""
        return numpy.asarray(tensor)


adapter = NumPyAdapter()
