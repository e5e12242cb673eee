"""The pickler of sources, under the module name of NVIDIA DALI."""

from __future__ import annotations

import contextlib
import importlib
import pickle
from typing import Any

_Pickler: Any = pickle.Pickler
with contextlib.suppress(ImportError):  # what pickle can do is then all that there is
    _Pickler = importlib.import_module("cloudpickle").CloudPickler


class DaliCallbackPickler(_Pickler):  # type: ignore[misc]
    """Pickles functions by reference, and with cloudpickle by value where they cannot be imported.

    See `Pipeline` for the argument `py_callback_pickler`, which takes any pickler.
    """
