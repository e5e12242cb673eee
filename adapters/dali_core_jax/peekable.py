"""Peekable iterators, with the API of CLU."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import jax
import numpy

from dali_core.errors import ArgumentValueError
from dali_core.plugin.asynchronous import call_in_thread
from dali_core_jax.iterators import DALIGenericIterator


@dataclass(frozen=True)
class ArraySpec:
    """Type and shape of an output."""

    dtype: numpy.dtype[Any]
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


class DALIGenericPeekableIterator(DALIGenericIterator):
    """Iterate over pipelines, and peek at the next batch.

    It has the API of ``clu.data.dataset_iterator.PeekableIterator`` and takes the arguments of
    `DALIGenericIterator`.  Types and shapes must be the same in all batches.
    """

    _elements: Mapping[str, ArraySpec] | None = None
    _ended = False  # `peek` has reached the end of the epoch.

    def __iter__(self) -> DALIGenericPeekableIterator:
        """Return the iterator itself, at the first batch of an epoch; see `BaseIterator`."""
        with self._turn:
            super().__iter__()
            self._ended = False
        return self

    def __next__(self) -> dict[str, jax.Array]:
        """Return the next batch, or raise StopIteration at the end of the epoch."""
        if self._ended:
            self._ended = False
            raise StopIteration
        # No block: after one, handlers of signals run, and the batch was lost.
        return super().__next__()  # type: ignore[no-any-return]

    def peek(self) -> dict[str, jax.Array]:
        """Return the batch that `next` will return, or raise StopIteration if there is none.

        The arrays are those that `next` returns, so they must not be donated to a computation.
        """
        with self._turn:
            if self._ended:
                raise StopIteration
            if self._prepared is None:
                before = self._current_states()
                try:
                    self._keep_prepared(self._next())
                except StopIteration:
                    # With auto_reset the next epoch has begun, but `next` must end this one first.
                    self._ended = True
                    raise
                except Exception as error:
                    self._prepared = error.with_traceback(None)
                self._before_prepared = before
            if isinstance(self._prepared, Exception):
                raise self._prepared
            batch: dict[str, jax.Array] = self._first_batch
            return batch

    def peek_async(self) -> Future[dict[str, jax.Array]]:
        """Peek at the next batch in another thread.

        Wait for the result before calling `next` or `peek`: otherwise they may run first, and the
        result is the batch after theirs.

        Returns
        -------
        concurrent.futures.Future
            Its result is that of `peek`.
        """
        return call_in_thread(self.peek, "dali_core peek")

    def reset(self) -> None:
        """Begin the next epoch, unless no batch of this one was returned."""
        with self._turn:
            super().reset()
            self._ended = False

    @property
    def element_spec(self) -> Mapping[str, ArraySpec]:
        """Type and shape of each output, computing the first batch if necessary."""
        if self._elements is None:
            self.peek()
        assert self._elements is not None
        return self._elements

    @property
    def is_nonpadding(self) -> jax.Array:
        """The mask of the samples of the last computed batch that belong to the epoch.

        The booleans are for all samples of all pipelines, and sharded as the outputs are.
        """
        with self._turn:
            if self._elements is None:
                self.peek()
            mask = self._placement.place(self._masks())
        # A global array has one dimension already; reshaping it would involve all processes.
        return mask if mask.ndim == 1 else mask.reshape(-1)

    def _resume(self, epoch: int, returned: int, lead: int = 0) -> None:
        super()._resume(epoch, returned, lead)
        self._ended = False

    def _take(self, num_valid: Any) -> Any:
        batch = super()._take(num_valid)
        self._check_elements(batch)
        return batch

    def _check_elements(self, batch: Mapping[str, jax.Array]) -> None:
        found = {name: ArraySpec(array.dtype, array.shape) for name, array in batch.items()}
        if self._elements is None:
            self._elements = found
        for name, spec in found.items():
            if spec != self._elements[name]:
                raise ArgumentValueError(
                    f"output {name!r}: must have the same type and shape in all batches of a "
                    f"peekable iterator (got {spec} after {self._elements[name]}). Resize or pad "
                    "it in the pipeline, or use DALIGenericIterator."
                )
