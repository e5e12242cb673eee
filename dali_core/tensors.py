"""Tensors: what pipelines give out, and what may be fed in."""

from __future__ import annotations

from dali_core._runtime.tensors import TensorCPU as TensorCPU
from dali_core._runtime.tensors import TensorListCPU as TensorListCPU
