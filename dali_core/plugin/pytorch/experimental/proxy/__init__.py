"""Pipelines called by the workers of a loader, under the module name of NVIDIA DALI."""

from __future__ import annotations

from dali_core_pytorch.proxy import DALIProxy as DALIProxy
from dali_core_pytorch.proxy import DALIServer as DALIServer
from dali_core_pytorch.proxy import DataLoader as DataLoader
