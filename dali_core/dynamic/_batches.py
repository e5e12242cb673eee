"""Batches of the imperative API: samples of one type."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from dali_core._call.location import user_location
from dali_core._runtime.call_executor import SampleIds
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_text import html_of_list
from dali_core.dynamic._conversion import conversions
from dali_core.dynamic._lazy import Lazy, set_kinds
from dali_core.dynamic._tensors import (
    Inside,
    Tensor,
    Value,
    checked_size,
    copied,
    described,
    make_tensor,
    to_torch,
)
from dali_core.errors import ArgumentTypeError, ArgumentValueError, TensorError, TensorIndexError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


class Batch(Value):
    """Samples of one type, and perhaps of different shapes; or the result of a pending call.

    Parameters
    ----------
    data : object
        What `as_batch` takes.
    dtype, device, layout : object, optional
        As there.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *arguments: Any, **keywords: Any) -> Batch:
        self: Batch = object.__new__(cls)
        if data is not None:
            made: Batch = conversions.as_batch(data, *arguments, **keywords)
            return made
        return self

    @staticmethod
    def broadcast(sample: Any, batch_size: int, device: Any = None, dtype: Any = None) -> Batch:
        """Return a batch of which each sample is the same tensor.

        Parameters
        ----------
        sample : object
            The sample, as `as_tensor` takes it.
        batch_size : int
            Number of samples.
        device, dtype : object, optional
            As there.
        """
        if isinstance(sample, Batch):
            raise ArgumentValueError(
                f"Batch.broadcast at {user_location()}: the sample must be a tensor (got a "
                "Batch). Select one of its samples."
            )
        size = checked_size(batch_size, "Batch.broadcast")
        value = conversions.as_tensor(sample, dtype=dtype, device=device)
        data = TensorListCPU.broadcast(value._tensor(), size)
        return make_batch(data)

    @property
    def batch_size(self) -> int:
        """Number of samples."""
        assert self._size is not None
        return self._size

    @property
    def shape(self) -> list[tuple[int, ...]]:  # type: ignore[override]
        """Shape of each sample."""
        return self._list().shape()

    @property
    def ndim(self) -> int:
        """Number of dimensions of each sample."""
        return self._list().ndim()

    @property
    def tensors(self) -> Samples:
        """The samples as a sequence."""
        return Samples(self, range(self.batch_size))

    @property
    def slice(self) -> Inside:
        """Indexing inside of each sample: ``batch.slice[entries]``."""
        return Inside(self)

    def select(self, which: Any) -> Any:
        """Return a sample, or a batch of some samples.

        Parameters
        ----------
        which : int, slice, list of int, or Ellipsis
            The sample or the samples; Ellipsis for the batch itself.

        Returns
        -------
        Tensor or Batch
            A tensor for an integer, else a batch.
        """
        if which is Ellipsis:
            return self
        found = self.tensors[which]
        return found.as_batch() if isinstance(found, Samples) else found

    def torch(self, copy: bool | None = None, pad: bool = False) -> Any:
        """Return all samples as one tensor of PyTorch, whose first dimension is the batch.

        Parameters
        ----------
        copy : bool, optional
            Whether it gets memory of its own; by default only if samples lie apart. False refuses
            to copy.
        pad : bool
            Fill samples with zeros to the largest extents.

        Raises
        ------
        TensorError
            If shapes differ, and `pad` is not set.
        ArgumentValueError
            If a copy is needed, and `copy` is False.
        """
        data = self._list()
        if not data.is_dense_tensor():
            if not pad:
                raise self.shape_error("Batch.torch")
            if copy is False:
                raise _copy_needed()
            return to_torch(TensorCPU(padded(self)))
        if copy is False and not lie_together(data):
            raise _copy_needed()
        found = to_torch(data.as_tensor())
        return found.clone() if copy else found

    def shape_error(self, what: str) -> TensorError:
        """Return the error of a batch that is no array."""
        shapes = sorted(set(self._list().shape()))
        return TensorError(
            f"{what} at {user_location()}: all samples must have one shape (got "
            f"{', '.join(map(str, shapes[:4]))}{', ...' if len(shapes) > 4 else ''}). Pass "
            "pad=True to fill them with zeros, or resize them."
        )

    def __iter__(self) -> Iterator[Tensor]:
        for index in range(self.batch_size):
            yield self.tensors[index]

    def __bool__(self) -> NoReturn:
        raise ArgumentTypeError(
            f"bool at {user_location()}: the truth of a batch is not clear. Use batch_size, or "
            "reduce the samples."
        )

    def __len__(self) -> NoReturn:
        raise ArgumentTypeError(
            f"len at {user_location()}: a batch has no length of its own. Use batch_size."
        )

    def __getitem__(self, entries: Any) -> NoReturn:
        raise ArgumentTypeError(
            f"Batch[...] at {user_location()}: a batch cannot be indexed, as it would not be clear "
            "what is meant. Use select(i) for samples, or slice[...] inside of each sample."
        )

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise ArgumentTypeError(
            f"Batch at {user_location()}: a batch is no array. Use as_tensor(batch) for samples of "
            "one shape, or batch.tensors."
        )

    def __repr__(self) -> str:
        import numpy

        size = self.batch_size
        shown = [
            numpy.array2string(self.tensors[i].__array__(), threshold=60, edgeitems=2)
            for i in range(min(size, 4))
        ]
        text = "[" + ",\n     ".join(shown) + (",\n     ..." if size > 4 else "") + "]"
        return described("Batch", text, self, [f"num_samples={size}", f"shape={self.shape}"])

    def _repr_html_(self) -> str:
        return html_of_list(self._list())


class Samples(Sequence[Any]):
    """Some samples of a batch, as a sequence of tensors.

    Parameters
    ----------
    batch : Batch
        The batch.
    places : sequence of int
        Which of its samples.
    """

    def __init__(self, batch: Batch, places: Sequence[int]) -> None:
        self._batch = batch
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, which: Any) -> Any:
        where = f"Batch samples at {user_location()}"
        if isinstance(which, slice):
            return Samples(self._batch, self._places[which])
        if isinstance(which, list):
            return Samples(self._batch, [self._places[self._place(i, where)] for i in which])
        return self._sample(self._places[self._place(which, where)])

    def _place(self, which: Any, where: str) -> int:
        if isinstance(which, (Lazy, float)):
            place = None
        else:
            try:
                place = operator.index(which)
            except TypeError:
                place = None
        if place is None:
            raise ArgumentTypeError(
                f"{where}: must be selected by an integer, a slice or a list of integers (got a "
                f"{type(which).__name__}). Convert it."
            )
        if not -len(self) <= place < len(self):
            raise TensorIndexError(
                f"{where}: the sample must be one of {len(self)} (got {place}). Select another."
            )
        return place % len(self) if len(self) else place

    def _sample(self, place: int) -> Tensor:
        batch = self._batch
        ids = batch._ids.take([place]) if batch._ids is not None else None
        return make_tensor(batch._list()[place : place + 1], ids)

    def tolist(self) -> list[Tensor]:
        """Return the samples as a list."""
        return list(self)

    def as_batch(self, copy: bool = False) -> Batch:
        """Return the samples as a batch.

        Parameters
        ----------
        copy : bool
            Whether it gets memory of its own.
        """
        data, ids = self._batch._list(), self._batch._ids
        places = list(self._places)
        samples = [data[place] for place in places]
        chosen = TensorListCPU(samples, contiguous=False) if samples else data[0:0]
        return make_batch(
            copied(chosen) if copy else chosen, None if ids is None else ids.take(places)
        )


def make_batch(data: TensorListCPU, ids: SampleIds | None = None) -> Batch:
    """Make a batch of the samples of a list."""
    made: Batch = object.__new__(Batch)
    made._known(data, len(data), ids)
    return made


def padded(batch: Batch) -> NDArray[Any]:
    """Return the samples as one array, filled with zeros to the largest extents."""
    import numpy

    data = batch._list()
    shapes = data.shape()
    extents = tuple(max(extent) for extent in zip(*shapes, strict=True))
    first = data.at(0)
    whole = numpy.zeros((len(shapes), *extents), first.dtype)
    for number, shape in enumerate(shapes):
        place: Any = (number, *(slice(extent) for extent in shape))
        whole[place] = data.at(number)
    return whole


def lie_together(data: TensorListCPU) -> bool:
    """Return whether the samples lie one after the other in memory."""
    if len(data) < 2:
        return True
    import numpy

    addresses = [numpy.asarray(sample).__array_interface__["data"][0] for sample in data]
    size = numpy.asarray(data[0]).nbytes
    return all(b - a == size for a, b in itertools.pairwise(addresses))


def _copy_needed() -> ArgumentValueError:
    return ArgumentValueError(
        f"Batch.torch at {user_location()}: samples lie apart in memory, so that a copy is needed "
        "(got copy=False). Leave copy out."
    )


set_kinds(Tensor, Batch)
