"""The location in the user's program, for messages and warnings."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType

from dali_core._messages import printable, user_stacklevel

_PACKAGE = str(Path(__file__).parents[1])


def user_location() -> str:
    """Return ``file:line`` of the innermost call that comes from outside this package.

    In a notebook the file is a cell, such as ``In [3]``.
    """
    frame = user_frame()
    return location_of(frame.f_code.co_filename, frame.f_lineno)


def user_frame() -> FrameType:
    """Return the innermost frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def location_of(filename: str, line: int) -> str:
    """Return ``file:line``; in a notebook the file is a cell, such as ``In [3]``."""
    return f"{_cell(filename)}:{line}"


def _cell(filename: str) -> str:
    """Return what a notebook calls a cell, such as ``In [3]``, in the place of its file name."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None or os.path.exists(filename):
        return filename
    try:
        _, name = shell.compile.format_code_name(filename)
    except (AttributeError, TypeError, ValueError):  # no cell, or IPython before 8
        return filename
    return str(name)


def warn_user(message: str, category: type[Warning] = DeprecationWarning) -> None:
    """Warn at the place that `user_location` gives; by default that something is deprecated."""
    warnings.warn(printable(message), category, stacklevel=user_stacklevel())
