"""Iterations over a pipeline, as `tf.data.Dataset.from_generator` asks for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from dali_core.errors import (
    AdapterError,
    ArgumentTypeError,
    ArgumentValueError,
    NotFedError,
    PipelineStateError,
)
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy


class Pass:
    """One iteration over the batches of a pipeline, as tuples of arrays.

    After an error it continues with the next batch.

    Parameters
    ----------
    take : callable
        Returns the next batch of the iterator, or raises StopIteration.
    specs : sequence of tf.TensorSpec
        What the outputs must be.
    """

    def __init__(self, take: Callable[[], Any], specs: Sequence[Any]) -> None:
        self._take = take
        self._specs = specs

    def __iter__(self) -> Pass:
        """Return itself."""
        return self

    def __next__(self) -> tuple[Any, ...]:
        """Return the next batch, or raise StopIteration."""
        try:
            (batch,) = self._take()
        except NotFedError as error:
            raise ArgumentValueError(
                "DALIDataset: every external_source without a source must have an input (got none: "
                f"{error}). Name it, and pass input_datasets={{name: dataset}} to "
                "experimental.DALIDatasetWithInputs."
            ) from error
        return tuple(
            fit(array, spec, number)
            for number, (array, spec) in enumerate(zip(batch.values(), self._specs, strict=True))
        )


class FreshPasses:
    """Makes a pipeline for each iteration, so that iterations do not depend on each other.

    Parameters
    ----------
    make : callable
        Returns a new iterator.
    specs : sequence of tf.TensorSpec
        What the outputs must be.
    follows_epochs : bool
        Whether an iteration continues after the last complete one, instead of repeating it.

    Attributes
    ----------
    length : int or None
        Batches of each iteration; None if it varies or is not known.
    """

    def __init__(
        self, make: Callable[[], BaseIterator], specs: Sequence[Any], follows_epochs: bool
    ) -> None:
        # Made now, so that wrong arguments are reported where they were given.
        self._unused = [make()]
        self.length = _length(self._unused[0])
        self._make = make
        self._specs = specs
        self._follows_epochs = follows_epochs
        self._state: Mapping[str, Any] | None = None

    def __call__(self) -> Pass:
        """Begin an iteration."""
        try:
            iterator = self._unused.pop()
        except IndexError:
            iterator = self._make()
        if self._state is not None:
            iterator.load_state_dict(self._state)
            iter(iterator)  # starts the next epoch
        return Pass(lambda: self._next(iterator), self._specs)

    def _next(self, iterator: BaseIterator) -> Any:
        try:
            return next(iterator)
        except StopIteration:
            if self._follows_epochs:
                self._state = iterator.state_dict()
            raise


class SharedPasses:
    """Iterates over one pipeline again and again: its code in Python cannot be copied.

    Parameters
    ----------
    iterator : BaseIterator
        Iterates over the pipeline.
    specs : sequence of tf.TensorSpec
        What the outputs must be.
    follows_epochs : bool
        As for `FreshPasses`.

    Attributes
    ----------
    length : int or None
        Batches of each iteration; None if it varies or is not known.
    """

    def __init__(self, iterator: BaseIterator, specs: Sequence[Any], follows_epochs: bool) -> None:
        self._iterator = iterator
        self.length = _length(iterator)
        self._specs = specs
        self._follows_epochs = follows_epochs
        self._lock = threading.Lock()
        self._number = 0
        self._is_over = False

    def __call__(self) -> Pass:
        """Begin an iteration."""
        with self._lock:
            self._number += 1
            if self._is_over and self._follows_epochs:
                self._iterator.reset()
            elif self._number > 1:
                self._iterator.restart()
            self._is_over = False
            number = self._number
        return Pass(lambda: self._next(number), self._specs)

    def _next(self, number: int) -> Any:
        with self._lock:
            if number != self._number:
                raise PipelineStateError(
                    "DALIDataset: a pipeline with Python code must be iterated over by one "
                    "iterator at a time (got another one since this one was made). Make a dataset "
                    "with a pipeline of its own for each."
                )
            if self._is_over:
                raise StopIteration
            try:
                return next(self._iterator)
            except StopIteration:
                self._is_over = True
                raise


def _length(iterator: BaseIterator) -> int | None:
    state = iterator.state_dict()
    # None: until the source ends. Without padding, epochs give what fills the last batch later on.
    is_filled = state["last_batch_policy"] == LastBatchPolicy.FILL.name
    if state["last_batch_policy"] is None or (is_filled and not state["last_batch_padded"]):
        return None
    return len(iterator)


def fit(array: Any, spec: Any, number: int) -> Any:
    """Return a batch of an output in the shape that was asked for, without copying.

    Dimensions of extent 1 are removed if need be.

    Raises
    ------
    ArgumentTypeError
        If it has another dtype.
    AdapterError
        If it has another shape.
    """
    if array.dtype != spec.dtype.as_numpy_dtype:
        raise ArgumentTypeError(
            f"DALIDataset: output {number} must be of output_dtypes, {spec.dtype!r} (got "
            f"tf.{tf.as_dtype(array.dtype).name}). Pass the type of the pipeline's output, or "
            "convert it there with fn.cast."
        )
    if spec.shape.is_compatible_with(array.shape):
        return array
    shape = squeezed(array.shape, tuple(spec.shape))
    if shape is None:
        raise AdapterError(
            f"DALIDataset: output {number} must be of output_shapes, {spec.shape}, perhaps with "
            f"more dimensions of extent 1 (got {array.shape}). Pass the shape of batches of the "
            "pipeline, with None for extents that vary."
        )
    return array.reshape(shape)


def squeezed(shape: Sequence[int], wanted: Sequence[int | None]) -> tuple[int, ...] | None:
    """Return a shape without some of the extents that are 1, so that it fits; None if it cannot.

    Examples
    --------
    >>> squeezed((4, 1, 8), (4, None))
    (4, 8)
    """
    if not shape:
        return None if wanted else ()
    if wanted and wanted[0] in (None, shape[0]):
        rest = squeezed(shape[1:], wanted[1:])
        if rest is not None:
            return (shape[0], *rest)
    return squeezed(shape[1:], wanted) if shape[0] == 1 else None
