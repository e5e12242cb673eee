"""Sources in Python, under the module name of NVIDIA DALI."""

from __future__ import annotations

from dali_core import fn as _fn
from dali_core import ops as _ops

ExternalSource = _ops.ExternalSource
external_source = _fn.external_source
