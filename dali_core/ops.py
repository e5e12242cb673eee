"""Operators as classes: make an object with constant arguments, then call it on inputs.

``ops.readers.File(file_root=...)()`` does the same as ``fn.readers.file(file_root=...)``. Arguments
of the call are added to those of the constructor. The classes are made from the operators'
descriptions.
"""

from __future__ import annotations

from dali_core._call.composition import Compose as Compose
from dali_core._graph.namespaces import fill_classes as _fill_classes

_fill_classes(globals(), __name__)
