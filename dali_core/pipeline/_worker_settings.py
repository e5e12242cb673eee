"""The arguments of `Pipeline` that are about workers for Python sources."""

from __future__ import annotations

from typing import Any

from dali_core._messages import shown
from dali_core._runtime.workers import START_METHODS, CallbackPickler
from dali_core.errors import ArgumentTypeError, ArgumentValueError

MAX_WORKERS = 4096


class WorkerSettings:
    """The arguments of `Pipeline` that are about workers, checked.

    Parameters
    ----------
    num_workers, start_method, pickler
        `py_num_workers`, `py_start_method` and `py_callback_pickler`.
    """

    def __init__(self, num_workers: Any, start_method: Any, pickler: Any) -> None:
        self.is_left_out = num_workers is None
        num_workers = 0 if num_workers is None else num_workers
        if isinstance(num_workers, bool) or not hasattr(num_workers, "__index__"):
            raise ArgumentTypeError(
                f"Pipeline: py_num_workers must be an int (got {num_workers!r})."
            )
        if not 0 <= num_workers <= MAX_WORKERS:
            raise ArgumentValueError(
                f"Pipeline: py_num_workers must be from 0 to {MAX_WORKERS} (got "
                f"{shown(num_workers)}). More workers than processors gain little."
            )
        if start_method not in START_METHODS:
            raise ArgumentValueError(
                f"Pipeline: py_start_method must be one of {', '.join(START_METHODS)} (got "
                f"{start_method!r})."
            )
        self.num_workers = int(num_workers)
        self.start_method = str(start_method)
        self.pickler = CallbackPickler.from_argument(pickler)
