"""The class of values in a graph, under the module name of NVIDIA DALI."""

from __future__ import annotations

from dali_core._call.expressions import newaxis as newaxis
from dali_core._graph.node import DataNode as DataNode
