"""Results of a function in a worker."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dali_core._runtime.tensor import TensorCPU
from dali_core.errors import WorkerError

WHOLE = -1
"""Stands for all samples in `Produced.failures`, if no single one is at fault."""


Keep = Callable[[TensorCPU], Any]
"""Copies a sample to where results are, and returns a reference to it."""


@dataclass
class Produced:
    """Samples from a worker.

    Attributes
    ----------
    columns : sequence of list
        For each output the samples, in the worker what `keep` gave for them; None in the place of
        those that failed.
    failures : dict of int to BaseException
        What was raised, by sample, or by `WHOLE`.
    has_ended : bool
        Whether there is no more data after these samples.
    state : object
        Plain data from a function with state, with which it resumes after these samples.
    """

    columns: Sequence[list[Any]] = ()
    failures: dict[int, BaseException] = field(default_factory=dict)
    has_ended: bool = False
    state: Any = None


class WorkerFunction(Protocol):
    """What workers call, with arguments of a few bytes.

    Attributes
    ----------
    source : object
        The user's part of it, which processes may get in a packed form; they can pickle the rest.
    """

    source: Any

    def __call__(self, keep: Keep, *arguments: Any) -> Produced:
        """Make samples, and keep each at once."""
        ...


class WorkerTraceback(Exception):  # noqa: N818 (shown as the cause of the exception itself)
    """Where in the worker an exception came from: its traceback as text."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def pack_exception(error: BaseException) -> tuple[bytes | None, str]:
    """Turn an exception into bytes, if that is possible, and the text of its traceback."""
    text = "".join(traceback.format_exception(error))
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)  # noqa: S301 (many classes can be written and not read)
    except Exception:  # whatever a class of the user does: the text has all that there is to know
        return None, text
    return packed, text


def unpack_exception(packed: bytes | None, text: str) -> BaseException:
    """Make an exception again; its cause tells where it came from."""
    error: BaseException | None = None
    if packed is not None:
        try:
            error = pickle.loads(packed)  # noqa: S301 (from a process that this one has started)
        except Exception:  # its class is not known here: see above
            error = None
    if not isinstance(error, BaseException):
        error = WorkerError(text.strip().rpartition("\n")[2])
    error.__cause__ = WorkerTraceback(text)
    return error
