"""Modules that a test imports from a folder of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def forgotten_modules(folder: Path) -> Iterator[None]:
    """Forget the modules of a folder in the end.

    With another dictionary in `sys.modules`, compiled modules whose import fails would stay, half
    made, in the one that the interpreter keeps.
    """
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if Path(getattr(module, "__file__", None) or "/").is_relative_to(folder):
                del sys.modules[name]
