"""Data of the program as batches: iterables, generators and callables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dali_core._call.location import user_location
from dali_core.dynamic._batches import Batch
from dali_core.dynamic._constructors import as_batch, as_tensor
from dali_core.dynamic._devices import check_host
from dali_core.dynamic._tensors import checked_size
from dali_core.errors import ArgumentFormError, ArgumentTypeError, ArgumentValueError

_NEVER = (None, False, "no")
_QUIET = (True, "quiet")


class ExternalSource:
    """Takes data from the program: calling it returns the next item.

    Parameters
    ----------
    source : iterable, generator function or callable without parameters
        Gives the data. Without `batch_size` in the call, an item is a sample; with it, an item is a
        batch: a list of samples, an array whose first dimension is the batch, or a `Batch`.
    num_outputs : int
        If it is more than 1, items are tuples of as many parts.
    cycle : {None, False, "no", True, "quiet", "raise"}
        What happens at the end: `StopIteration` again and again; the source starts over without it
        (``"quiet"``, True), or after it (``"raise"``).
    device : str or Device
        The host.
    layout, dtype : object or sequence, optional
        Layout of a sample and type of its elements, for all outputs or for each.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the source cannot give data, or cannot start over though it has to.
    """

    def __init__(
        self,
        source: Any,
        num_outputs: int = 1,
        *,
        cycle: bool | str | None = None,
        device: Any = "cpu",
        layout: Any = None,
        dtype: Any = None,
    ) -> None:
        where = f"ExternalSource at {user_location()}"
        self._where = where
        check_host(device, where)
        if cycle not in (*_NEVER, *_QUIET, "raise"):
            raise ArgumentValueError(
                f"{where}: cycle must be None, 'no', 'quiet' or 'raise' (got {cycle!r:.60})."
            )
        self._num_outputs = checked_size(num_outputs, where)
        self._cycle = cycle
        self._layouts = _each(layout, self._num_outputs, where, "layout")
        self._dtypes = _each(dtype, self._num_outputs, where, "dtype")
        self._make, self._next = _opened(source, where)
        restarts = cycle not in _NEVER
        if restarts and self._make is None:
            kind = ArgumentTypeError if inspect.isgenerator(source) else ArgumentValueError
            raise kind(
                f"{where}: the source cannot start over (got cycle={cycle!r} and a "
                f"{type(source).__name__}). Pass an iterable or a generator function."
            )
        self._has_given = False
        self._has_ended = False

    def __call__(self, batch_size: int | None = None) -> Any:
        """Return the next item.

        Parameters
        ----------
        batch_size : int, optional
            Number of samples, which an item then must have; by default an item is a sample, or a
            `Batch`.

        Returns
        -------
        Tensor or Batch, or a tuple of them if there are several outputs
            The item.

        Raises
        ------
        StopIteration
            At the end of the data.
        """
        size = None if batch_size is None else checked_size(batch_size, self._where)
        item = self._item()
        if self._num_outputs == 1:
            return self._value(item, size, 0)
        if not isinstance(item, (tuple, list)) or len(item) != self._num_outputs:
            raise ArgumentValueError(
                f"{self._where}: items must be tuples of {self._num_outputs} parts (got a "
                f"{type(item).__name__}{f' of {len(item)}' if hasattr(item, '__len__') else ''})."
            )
        return tuple(self._value(part, size, number) for number, part in enumerate(item))

    def captured(self, batch_size: int | None = None, ctx: Any = None) -> Iterator[Any]:
        """Return an iterator over all items; loops are computed as programs in any case."""
        while True:
            try:
                item = self(batch_size)
            except StopIteration:
                return
            yield item

    def _item(self) -> Any:
        if self._has_ended and self._cycle in _NEVER:
            raise StopIteration
        try:
            item = self._next()
        except StopIteration:
            self._has_ended = True
            if self._cycle in _NEVER or self._make is None:
                raise
            self._next = self._make()
            if self._cycle == "raise":
                raise
            item = self._next()
        self._has_given = True
        return item

    def _value(self, item: Any, size: int | None, number: int) -> Any:
        layout, dtype = self._layouts[number], self._dtypes[number]
        if size is None and not isinstance(item, Batch):
            return as_tensor(item, dtype=dtype, layout=layout)
        batch = as_batch(item, dtype=dtype, layout=layout)
        if size is not None and batch.batch_size != size:
            raise ArgumentValueError(
                f"{self._where}: an item must have batch_size={size} samples (got "
                f"{batch.batch_size}). Pass batches of this size."
            )
        return batch


def _opened(
    source: Any, where: str
) -> tuple[Callable[[], Callable[[], Any]] | None, Callable[[], Any]]:
    """Return what starts a source over, if that is possible, and what gives its next item."""
    if inspect.isgeneratorfunction(source):
        return lambda: iter(source()).__next__, iter(source()).__next__
    if callable(source) and not hasattr(source, "__iter__"):
        try:
            parameters = inspect.signature(source).parameters.values()
        except (TypeError, ValueError):  # a builtin that does not say
            return None, source
        if any(p.default is p.empty and p.kind in _POSITIONAL for p in parameters):
            raise ArgumentFormError(
                f"{where}: a callable must not need parameters (got {source!r:.80}). Wrap it."
            )
        return None, source
    try:
        iterator = iter(source)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{where}: the source must be an iterable or a callable (got a "
            f"{type(source).__name__})."
        ) from error
    is_once = iterator is source
    return None if is_once else lambda: iter(source).__next__, iterator.__next__


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _each(value: Any, count: int, where: str, name: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ArgumentValueError(
            f"{where}: {name} must be one for all outputs or one for each of {count} (got "
            f"{len(value)})."
        )
    return value
