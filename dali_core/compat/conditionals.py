"""`nvidia.dali._conditionals`: what programs with pipelines of their own kind call of it."""

from __future__ import annotations

from typing import Any

from dali_core.compat import autograph as _autograph  # noqa: F401


def conditionals_enabled() -> bool:
    """Return False: values of branches need no registration."""
    return False


def register_data_nodes(*values: Any, **_: Any) -> None:
    """Do nothing, as values of branches need no registration."""
