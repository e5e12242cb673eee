"""Nodes of torchdata around the readers of the imperative API.

Their states are those of the readers, so that `torchdata.nodes.Loader` resumes at any step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import torch
from torchdata.nodes import BaseNode

from dali_core import dynamic
from dali_core.dynamic import Batch, Tensor
from dali_core.errors import ArgumentTypeError, ArgumentValueError, StateMismatchError

Values = dict[str, Any]
_Item_co = TypeVar("_Item_co", covariant=True)
_READER, _IS_OVER, _SOURCE = "reader", "is_over", "source"
_NAMES = ("data", "label")


class Reader(BaseNode[Values]):  # type: ignore[misc]
    """Reads the epochs of a reader: each `reset` without a state begins the next one.

    An epoch that was left early is over, as with `next_epoch`.

    Parameters
    ----------
    reader_class : type
        A class of `dynamic.readers`, such as `dynamic.readers.File`.
    batch_size : int or None
        Samples in a batch; None for single samples.
    output_names : sequence of str, optional
        Names of the outputs, in the keys of an item; by default ``"data"`` and ``"label"``, or the
        reader's own.
    **arguments
        Arguments of the reader.

    Raises
    ------
    ArgumentTypeError
        If `reader_class` is no class of a reader, or an argument is unknown.
    ArgumentValueError
        At the first step, if there are not as many names as outputs.

    Examples
    --------
    >>> node = nodes.Reader(dynamic.readers.File, batch_size=64, file_root="photos")
    >>> node = nodes.DictMapper(node, lambda jpegs: dynamic.decoders.image(jpegs))
    >>> loader = torchdata.nodes.Loader(nodes.ToTorch(node))
    """

    def __init__(
        self,
        reader_class: type[Any],
        *,
        batch_size: int | None,
        output_names: Sequence[str] | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__()
        if not (isinstance(reader_class, type) and hasattr(reader_class, "next_epoch")):
            raise ArgumentTypeError(
                "nodes.Reader: reader_class must be a class of dynamic.readers, not an object of "
                f"it (got {reader_class!r:.80}). Pass its arguments by name."
            )
        self._make: Callable[[], Any] = lambda: reader_class(**arguments)
        self._reader = self._make()
        self._batch_size = batch_size
        self._names = None if output_names is None else tuple(output_names)
        self._epoch: Iterator[Any] = iter(())
        self._has_read = False  # a step of this epoch
        self._state: dict[str, Any] = {_READER: None, _IS_OVER: False}

    def reset(self, initial_state: Mapping[str, Any] | None = None) -> None:
        """Begin the next epoch, or resume from a state.

        Parameters
        ----------
        initial_state : dict, optional
            What `state_dict` has returned, perhaps in another process.

        Raises
        ------
        StateMismatchError
            If it is no state of such a reader.
        """
        super().reset(None if initial_state is None else dict(initial_state))
        self._has_read = is_over = False
        if initial_state is not None:
            if not isinstance(initial_state, Mapping) or not {_READER, _IS_OVER} <= set(
                initial_state
            ):
                raise StateMismatchError(
                    "nodes.Reader: the state must be one of such a node (got "
                    f"{initial_state!r:.80}). Pass what state_dict has returned."
                )
            self._reader = self._make()
            if initial_state[_READER] is not None:
                self._reader.set_state(initial_state[_READER])
            is_over = bool(initial_state[_IS_OVER])
            self._state = {_READER: initial_state[_READER], _IS_OVER: is_over}
        else:
            self._reader.leave_epoch()
            self._state = {_READER: None, _IS_OVER: False}
        self._epoch = iter(()) if is_over else self._reader.next_epoch(self._batch_size)

    def next(self) -> Values:
        """Return the outputs of the next step by their names."""
        outputs = next(self._epoch)
        self._has_read = True
        self._state = {_READER: None, _IS_OVER: False}  # the reader's own from now on
        if isinstance(outputs, Mapping):
            return dict(outputs)
        names = _NAMES[: len(outputs)] if self._names is None else self._names
        if len(names) != len(outputs):
            raise ArgumentValueError(
                f"nodes.Reader: output_names must have a name for each of {len(outputs)} outputs "
                f"(got {list(names)}). Pass as many."
            )
        return dict(zip(names, outputs, strict=True))

    def get_state(self) -> dict[str, Any]:
        """Return the state of the reader."""
        if self._state[_READER] is not None or not self._reader.has_begun:
            return dict(self._state)
        is_over = self._has_read and self._reader.samples_left == 0
        return {_READER: self._reader.get_state(), _IS_OVER: is_over}

    def get_metadata(self) -> Mapping[str, int]:
        """Return the number of samples, and how they are divided into shards."""
        found: Mapping[str, int] = self._reader.get_metadata(self._batch_size)
        return found


class _Mapping(BaseNode[_Item_co], Generic[_Item_co]):  # type: ignore[misc]
    """A node whose only state is that of its source."""

    def __init__(self, source: BaseNode[Values]) -> None:
        super().__init__()
        self._source = source

    def reset(self, initial_state: Mapping[str, Any] | None = None) -> None:
        """Begin again, or resume from a state."""
        super().reset(None if initial_state is None else dict(initial_state))
        self._source.reset(None if initial_state is None else initial_state[_SOURCE])

    def get_state(self) -> dict[str, Any]:
        """Return the state of the source."""
        return {_SOURCE: self._source.state_dict()}


class DictMapper(_Mapping[Values]):
    """Applies a function to one entry of each item.

    Parameters
    ----------
    source : BaseNode
        Gives dicts.
    map_fn : callable
        Of the value of the entry, which it replaces. Several calls of the imperative API in it run
        as one program.
    key : str
        The entry.
    """

    def __init__(
        self, source: BaseNode[Values], map_fn: Callable[[Any], Any], key: str = "data"
    ) -> None:
        super().__init__(source)
        self._function = map_fn
        self._key = key

    def next(self) -> Values:
        """Return the next item, with the entry replaced."""
        item = next(self._source)
        if self._key not in item:
            raise ArgumentValueError(
                f"nodes.DictMapper: key must be one of {sorted(item)} (got {self._key!r}). Pass "
                "the name of an output."
            )
        return {**item, self._key: self._function(item[self._key])}


class ToTorch(_Mapping[tuple[torch.Tensor, ...]]):
    """Gives the values of each item as tensors of PyTorch, without copies.

    Parameters
    ----------
    source : BaseNode
        Gives dicts of tensors or batches.
    output_stream : torch.cuda.Stream, optional
        Accepted for compatibility: values are on the host.

    Raises
    ------
    ArgumentValueError
        At a step, if the samples of a batch differ in shape.
    """

    def __init__(self, source: BaseNode[Values], output_stream: Any = None) -> None:
        super().__init__(source)

    def next(self) -> tuple[torch.Tensor, ...]:
        """Return the next item as a tuple of tensors."""
        return tuple(map(_to_torch, next(self._source).values()))


def _to_torch(value: Any) -> torch.Tensor:
    if not isinstance(value, (Batch, Tensor)):
        value = dynamic.as_tensor(value)
    found: torch.Tensor = value.torch()
    return found
