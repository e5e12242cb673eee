"""Tensors of the imperative API, and what batches have in common with them."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from dali_core._call.location import user_location
from dali_core._runtime.call_executor import SampleIds
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_text import html_of_list
from dali_core.dynamic._conversion import conversions
from dali_core.dynamic._dtypes import DType, of_id
from dali_core.dynamic._indexing import elements
from dali_core.dynamic._lazy import Lazy, index_inside
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    CudaUnavailableError,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from dali_core.dynamic._devices import Device


class Inside:
    """Takes elements of every sample."""

    def __init__(self, value: Lazy) -> None:
        self._value = value

    def __getitem__(self, entries: Any) -> Any:
        value = self._value
        return value[entries] if isinstance(value, Tensor) else index_inside(value, entries)


class Value(Lazy):
    """What tensors and batches have in common."""

    __slots__ = ("__dict__",)

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return of_id(self._list().dtype)

    @property
    def layout(self) -> str | None:
        """One letter for each dimension of a sample; None without a layout."""
        return self._list().layout() or None

    @property
    def device(self) -> Device:  # type: ignore[override]
        """Where the data is."""
        from dali_core.dynamic._devices import Device

        return Device.CPU

    def cpu(self) -> Any:
        """Return the value in host memory."""
        return self

    def gpu(self, index: int | None = None) -> Any:
        """Return the value on a device.

        Raises
        ------
        CudaUnavailableError
            Always: values of this API are on the host.
        """
        raise CudaUnavailableError(
            f"{type(self).__name__}.gpu at {user_location()}: this API computes on the host only. "
            "Use torch().cuda(), or a pipeline with device='gpu'."
        )

    def to_device(self, device: Any, force_copy: bool = False) -> Any:
        """Return the value on a device; a copy if that is wanted."""
        from dali_core.dynamic._devices import device as as_device

        if as_device(device).device_type != "cpu":
            return self.gpu()
        if not force_copy:
            return self
        return type(self).__new__(type(self))._known(copied(self._list()), self._size, self._ids)

    def _with(self, data: TensorListCPU) -> Any:
        """Return a value like this one with other data."""
        other: Any = object.__new__(type(self))
        return other._known(data, self._size, self._ids)

    def __getstate__(self) -> NoReturn:
        raise ArgumentTypeError(
            f"{type(self).__name__}: must not be pickled or copied deeply. Convert it to an array "
            "of NumPy or a tensor of PyTorch first."
        )

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.__getstate__()

    def __copy__(self: Any) -> Any:
        other = self._with(self._list())
        other.__dict__.update(self.__dict__)
        return other

    def __eq__(self, other: Any) -> Any:
        return self._computed("eq", self, other)

    __hash__ = None  # type: ignore[assignment]


class Tensor(Value):
    """An array in host memory, or the result of a call that will be computed when it is needed.

    Parameters
    ----------
    data : object
        What `as_tensor` takes.
    dtype, device, layout : object, optional
        As there.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *arguments: Any, **keywords: Any) -> Tensor:
        self: Tensor = object.__new__(cls)
        if data is not None:
            made: Tensor = conversions.as_tensor(data, *arguments, **keywords)
            return made
        return self

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Extents of all dimensions."""
        return self._list().shape()[0]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._list().ndim()

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.bytes

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    def _tensor(self) -> TensorCPU:
        return self._list()[0]

    def item(self) -> Any:
        """Return the only element as a number of Python.

        Raises
        ------
        ArgumentValueError
            If there are more or none.
        """
        array = self.__array__()
        if array.size != 1:
            raise ArgumentValueError(
                f"Tensor.item at {user_location()}: there must be one element (got {array.size}). "
                "Index the tensor, or convert it to an array."
            )
        return array.item()

    def torch(self, copy: bool = False) -> Any:
        """Return a tensor of PyTorch, which shares the memory.

        Parameters
        ----------
        copy : bool
            Whether it gets memory of its own.
        """
        found = to_torch(self._tensor())
        return found.clone() if copy else found

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self._tensor().__array__(dtype, copy)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._tensor().__array_interface__

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._tensor().__dlpack__(**keywords)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise ArgumentTypeError(
                f"len at {user_location()}: a tensor without dimensions has no length."
            )
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        for index in range(len(self)):
            yield self[index]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ArgumentValueError(
                f"bool at {user_location()}: the truth of a tensor of {self.size} elements is not "
                "clear. Use numpy.any or numpy.all."
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __getitem__(self, entries: Any) -> Tensor:
        """Take elements: by integers, slices, and at most one ellipsis."""
        found = elements(self._tensor(), self.shape, self.layout or "", entries)
        return make_tensor(TensorListCPU.broadcast(found, 1), self._ids)

    @property
    def slice(self) -> Inside:
        """Indexing in brackets: ``tensor.slice[entries]``."""
        return Inside(self)

    def __repr__(self) -> str:
        import numpy

        text = numpy.array2string(self.__array__(), threshold=200, edgeitems=3)
        return described("Tensor", text, self, [f"shape={self.shape}"])

    def _repr_html_(self) -> str:
        return html_of_list(self._list())


def make_tensor(data: TensorListCPU, ids: SampleIds | None = None) -> Tensor:
    """Make a tensor of the only sample of a list."""
    made: Tensor = object.__new__(Tensor)
    made._known(data, None, ids)
    return made


def to_torch(own: TensorCPU) -> Any:
    """Return a tensor of PyTorch over the same memory."""
    from dali_core.adapters import get_adapter

    return get_adapter("pytorch").from_tensor(own)


def checked_size(size: Any, what: str) -> int:
    """Check the number of samples in a batch."""
    try:
        found = operator.index(size)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{what} at {user_location()}: batch_size must be an integer (got {size!r:.60}, a "
            f"{type(size).__name__}). Convert it."
        ) from error
    if found < 0:
        raise ArgumentValueError(
            f"{what} at {user_location()}: batch_size must not be negative (got {found})."
        )
    return found


def copied(data: TensorListCPU) -> TensorListCPU:
    import copy

    return copy.deepcopy(data)


def described(kind: str, text: str, value: Value, more: Sequence[str]) -> str:
    body = "\n".join(f"    {line}" for line in text.splitlines())
    parts = [f"dtype={value.dtype}", f'device="{value.device}"']
    if value.layout:
        parts.append(f'layout="{value.layout}"')
    lines = "".join(f"    {part},\n" for part in [*parts, *more])
    return f"{kind}(\n{body},\n{lines[:-2]})"
