"""Fast, deterministic data loading for deep learning."""

from __future__ import annotations

from dali_core import backend as backend
from dali_core import errors as errors
from dali_core import fn as fn
from dali_core import math as math
from dali_core import ops as ops
from dali_core import tensors as tensors
from dali_core import types as types
from dali_core._graph.expressions import newaxis as newaxis
from dali_core._graph.node import DataNode as DataNode
from dali_core.pipeline import Pipeline as Pipeline
from dali_core.pipeline import pipeline_def as pipeline_def
from dali_core.sysconfig import get_include as get_include
from dali_core.tracing import trace as trace
from dali_core.types import OperatorConcurrency as OperatorConcurrency
from dali_core.types import StreamPolicy as StreamPolicy

__version__ = "0.1.0"
