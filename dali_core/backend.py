"""Tensor classes under the module name of the reference API."""

from __future__ import annotations

from dali_core.tensors import TensorCPU as TensorCPU
from dali_core.tensors import TensorListCPU as TensorListCPU
