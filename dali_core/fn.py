"""Operators as functions: call them to define a pipeline.

Every function takes its inputs by position and everything else by name, and returns `DataNode`
objects. They are made from the operators' descriptions.
"""

from __future__ import annotations

from dali_core._graph.namespaces import fill_functions as _fill_functions
from dali_core.operators.torchvision_names import TORCHVISION_NAMES as _TORCHVISION_NAMES

_fill_functions(globals(), __name__, _TORCHVISION_NAMES)
