"""The location in the user's program, for messages and warnings."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from dali_core._messages import printable

_PACKAGE = str(Path(__file__).parents[1])


def user_location() -> str:
    """Return ``file:line`` of the innermost call that comes from outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def warn_user(message: str, category: type[Warning] = DeprecationWarning) -> None:
    """Warn at the place that `user_location` gives; by default that something is deprecated."""
    frame = sys._getframe()
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(printable(message), category, stacklevel=level)
