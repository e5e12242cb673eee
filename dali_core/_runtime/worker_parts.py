"""Parts of a batch that workers make: awaited, and put together."""

from __future__ import annotations

import traceback
from collections.abc import Sequence

from dali_core._runtime.step import StepContext, note_failure
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.workers import WHOLE, Produced, Task
from dali_core.errors import WorkerError

_WAIT_SECONDS = 0.1


def forget_frames(error: BaseException) -> None:
    """Clear the frames of an exception: they hold samples in shared memory that is needed next."""
    seen: BaseException | None = error
    while seen is not None:
        traceback.clear_frames(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__


def await_parts(parts: Sequence[Task], context: StepContext) -> list[Produced]:
    """Wait for the parts of a batch."""
    for part in parts:
        while not part.wait(_WAIT_SECONDS):
            if context.is_cancelled():
                raise WorkerError("the batch must still be wanted (it was dropped meanwhile).")
    return [part.result() for part in parts]


def join_parts(
    parts: Sequence[Produced], part_size: int | None, context: StepContext
) -> list[list[TensorCPU | None]]:
    """Put the parts of a batch together; raise what a source that is not parallel would raise."""
    columns: list[list[TensorCPU | None]] = []
    # Workers make whole batches. A source before this one may have given fewer samples.
    size = None if part_size is None else context.batch_size
    for number, part in enumerate(parts):
        for sample, error in sorted(part.failures.items()):
            position = number * (part_size or 0) + sample
            if sample == WHOLE or not isinstance(error, Exception):
                raise error
            if size is None or position < size:
                note_failure(context, position, error)
        columns = columns or [[] for _ in part.columns]
        for column, more in zip(columns, part.columns, strict=True):
            column.extend(more)
        if part.has_ended and (size is None or len(columns[0]) < size):
            raise StopIteration
    return [column[:size] for column in columns]
