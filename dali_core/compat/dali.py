"""The package `nvidia.dali`: the top level of this library, with the version of NVIDIA DALI."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import dali_core
from dali_core import Pipeline as Pipeline
from dali_core import newaxis as newaxis
from dali_core import pipeline_def as pipeline_def
from dali_core.compat._names import add_names, find
from dali_core.compat._places import ADDED, BELOW, ELSEWHERE
from dali_core.compat.pipeline_members import add_members
from dali_core.types import OperatorConcurrency as OperatorConcurrency
from dali_core.types import StreamPolicy as StreamPolicy

__version__ = "2.4.0"
"""The version of NVIDIA DALI whose interface this library has: what programs compare with."""

# By this name, `from nvidia.dali import x` looks for modules.
__name__ = "nvidia.dali"
__path__: list[str] = []


def __getattr__(name: str) -> Any:
    # These are there without an import of their own.
    if name in ELSEWHERE and name in BELOW:
        return importlib.import_module(ELSEWHERE[name])
    if name in ADDED[__name__]:
        return find(ADDED[__name__][name])
    if name.startswith("_") or not hasattr(dali_core, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(dali_core, name)
    if isinstance(value, ModuleType):
        add_names(value)
    return value


add_members(Pipeline)
