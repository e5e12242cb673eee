"""Describes what has failed: from numbers of samples and nodes to errors for the user."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from dali_core._execution.bad_samples import name_others
from dali_core._execution.batch_stream import BatchStream
from dali_core._graph.node import OperatorNode
from dali_core._runtime.executor import Batch
from dali_core._runtime.step import NotFed
from dali_core.errors import (
    BadSample,
    NotFedError,
    SampleError,
    SampleRangeError,
    SampleValueError,
)

Failure: TypeAlias = "tuple[int, int, str, str]"
"""Sample, node, message and source file, as the engine records them; -1 for none."""
_CLASSES: Mapping[type[Exception] | None, type[SampleError]] = MappingProxyType(
    {None: SampleError, ValueError: SampleValueError, IndexError: SampleRangeError}
)


class FailureReports:
    """Turns failures of batches into errors and records.

    Parameters
    ----------
    nodes : sequence of OperatorNode
        The nodes, by their numbers.
    stream : BatchStream
        Knows the epoch.
    has_readers : bool
        Whether readers number the samples: each then has an epoch of its own.
    """

    def __init__(
        self, nodes: Sequence[OperatorNode], stream: BatchStream, has_readers: bool
    ) -> None:
        self._nodes = nodes
        self._stream = stream
        self._has_readers = has_readers

    def epoch_of(self, batch: Batch, sample: int) -> int:
        """Return the epoch of a sample of a batch."""
        return batch.key(sample)[0] if self._has_readers and batch.size else self._stream.epoch

    def error(
        self, batch: Batch, failures: Sequence[Failure], cause: BaseException | None
    ) -> SampleError:
        """Make the error for a batch that has failed."""
        sample, node_number, message, source = failures[0]
        node = self._nodes[node_number] if node_number >= 0 else None
        bad = self.bad_samples(batch, [failure for failure in failures if failure[0] >= 0])
        kind = NotFedError if isinstance(cause, NotFed) else _CLASSES[batch.failure_kind()]
        return kind(
            message + name_others(bad),
            operator=node.operator if node else "",
            location=node.location if node else "",
            epoch=self.epoch_of(batch, max(sample, 0)),
            iteration=batch.iteration,
            sample=sample if sample >= 0 else None,
            source=source or None,
            failures=bad,
        )

    def bad_samples(self, batch: Batch, failures: Sequence[Failure]) -> list[BadSample]:
        """Describe samples that have failed."""
        return [
            BadSample(
                operator=self._nodes[node].operator if node >= 0 else "",
                location=self._nodes[node].location if node >= 0 else "",
                epoch=self.epoch_of(batch, sample),
                iteration=batch.iteration,
                sample=sample,
                source=source or None,
                message=message,
            )
            for sample, node, message, source in failures
        ]


def describe(error: BaseException) -> str:
    """Return type and message of an exception, even if its own ``__str__`` raises."""
    if isinstance(error, NotFed):  # whose name is internal
        return str(error)
    return "".join(traceback.format_exception_only(error)).strip()


def without_own_frames(error: BaseException, own_file: str) -> BaseException:
    """Drop the frames of a file from the beginning of an exception's traceback.

    Frames keep their variables alive for as long as the exception is referenced. This is wanted for
    the user's frames, but not for those of the code that called the user's.
    """
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == own_file:
        frames = frames.tb_next
    return error.with_traceback(frames)


def with_note(own: BaseException, error: SampleError) -> BaseException:
    """Note with an exception of the user where in the pipeline it was raised."""
    notes = [*getattr(own, "__notes__", ()), f"raised for {error.where}"]
    own.__notes__ = notes  # type: ignore[attr-defined,unused-ignore]  # Python 3.10 has no add_note
    return own
