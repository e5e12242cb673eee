"""Fast, deterministic data loading for deep learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from dali_core import backend as backend
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("dali_core._runtime."):
        raise
    raise ImportError(
        f"dali_core: its native modules must be built (found none in {__path__[0]}). Start Python "
        "in another folder to import the installed package, or build this one with "
        "'python setup.py build_ext --inplace'."
    ) from error
from dali_core import errors as errors
from dali_core import fn as fn
from dali_core import math as math
from dali_core import ops as ops
from dali_core import samplers as samplers
from dali_core import tensors as tensors
from dali_core import types as types
from dali_core._call.expressions import newaxis as newaxis
from dali_core._graph.node import DataNode as DataNode
from dali_core.pipeline import Pipeline as Pipeline
from dali_core.pipeline import mix_readers as mix_readers
from dali_core.pipeline import parameter as parameter
from dali_core.pipeline import pipeline_def as pipeline_def
from dali_core.sysconfig import get_include as get_include
from dali_core.tracing import trace as trace
from dali_core.types import OperatorConcurrency as OperatorConcurrency
from dali_core.types import StreamPolicy as StreamPolicy

__version__ = "0.1.0"

if TYPE_CHECKING:  # to which a function for all names would make every misspelt one known
    from dali_core.loaders.numpy_loader import Loader as Loader
else:

    def __getattr__(name: str) -> Any:
        """Import the loader of NumPy, and the modules of frameworks, when they are asked for."""
        import importlib

        if name == "Loader":
            return importlib.import_module("dali_core.loaders.numpy_loader").Loader
        if name in ("jax", "pytorch"):
            return importlib.import_module(f"dali_core.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
