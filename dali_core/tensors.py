"""Tensors: what pipelines return, and what may be fed in."""

from __future__ import annotations

from dali_core._runtime.tensor import TensorCPU as TensorCPU
from dali_core._runtime.tensor_gpu import TensorGPU as TensorGPU
from dali_core._runtime.tensor_list import TensorListCPU as TensorListCPU
from dali_core._runtime.tensor_list_gpu import TensorListGPU as TensorListGPU
