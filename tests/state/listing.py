"""An adapter whose arrays are lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core.adapters import Adapter


class ListAdapter(Adapter):
    """Arrays are lists of numbers."""

    name = "list"

    def from_tensor(self, tensor: Any) -> Any:
        return np.asarray(tensor).tolist()
