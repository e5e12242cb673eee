"""Calls of operators by values of a graph and by constants.

What records calls knows nodes and types. So these do not import it: it registers here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Recorder:
    """The functions that record calls of operators, by the names that they have in `_graph`."""

    add_operator: Callable[..., Any]
    arithmetic: Callable[..., Any]
    constant_node: Callable[..., Any]
    subscript: Callable[..., Any]


recorder = Recorder()
"""Complete once `dali_core` is imported."""
