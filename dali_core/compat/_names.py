"""Names that modules of this library have only under those of NVIDIA DALI."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from dali_core.compat._places import ADDED
from dali_core.plugin.reference_names import stands_in_for_reference


def find(place: str) -> Any:
    """Import ``module`` or ``module:name``, and call what ``module:name()`` says."""
    module, _, name = place.partition(":")
    found = importlib.import_module(module)
    if not name:
        add_names(found)
        return found
    value = getattr(found, name.removesuffix("()"))
    return value() if name.endswith("()") else value


def add_names(module: ModuleType) -> None:
    """Have a module look up its added names, as long as `nvidia.dali` is this library."""
    added = ADDED.get(module.__name__)
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")
    if added is None or getattr(own, "has_added_names", False):
        return

    def look_up(name: str) -> Any:
        if name in added and stands_in_for_reference():
            return find(added[name])
        if own is not None:
            return own(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    look_up.has_added_names = True  # type: ignore[attr-defined]
    vars(module)["__getattr__"] = look_up
