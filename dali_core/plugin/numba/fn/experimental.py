"""Functions that Numba compiles, under the module name of NVIDIA DALI."""

from __future__ import annotations

from dali_core.plugin.numba.function import numba_function as numba_function
