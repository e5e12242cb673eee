"""Tensors and batches as text, as the reference writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Shape_co = TypeVar("Shape_co", covariant=True)

_INDENT = " " * 4
_EDGE = 2  # how many entries stay at either end of what is too long
_MAX_ELEMENTS = 1000
_MAX_SHAPES = 16
_MAX_WIDTH = 80


class Described(Protocol[Shape_co]):
    """A tensor or a batch, on the host or on a device."""

    @property
    def dtype(self) -> object:
        """Element type."""
        ...

    def layout(self) -> str:
        """Return the meaning of the dimensions."""
        ...

    def shape(self) -> Shape_co:
        """Return the shape of the tensor, or those of all samples."""
        ...

    def as_cpu(self) -> Any:
        """Return the same on the host, where NumPy can read tensors."""
        ...


def text_of_tensor(tensor: Described[Sequence[int]], with_data: bool) -> str:
    """Describe a tensor, with its elements or without."""
    parts = [_elements(tensor.as_cpu())] if with_data else []
    parts += [*_kind(tensor), f"shape={tuple(tensor.shape())}"]
    return _joined(type(tensor).__name__, parts)


def text_of_list(batch: Described[list[tuple[int, ...]]], with_data: bool) -> str:
    """Describe a batch, with the elements of its samples or without."""
    parts = [_samples(batch.as_cpu())] if with_data else []
    shapes = batch.shape()
    parts += [*_kind(batch), f"num_samples={len(shapes)}", f"shape={_shapes(shapes)}"]
    return _joined(type(batch).__name__, parts)


def html_of_tensor(tensor: Described[Sequence[int]]) -> str:
    """Show a tensor in a notebook, as a batch of one."""
    import numpy

    from dali_core._display.tensors import html_of_batch

    kind, samples = type(tensor).__name__, [numpy.asarray(tensor.as_cpu())]
    return html_of_batch(kind, samples, [tensor.shape()], _type_name(tensor), tensor.layout())


def html_of_list(batch: Described[list[tuple[int, ...]]]) -> str:
    """Show a batch in a notebook: the first samples as pictures or numbers."""
    import numpy

    from dali_core._display.tensors import html_of_batch, most_shown

    on_host, shapes = batch.as_cpu(), batch.shape()
    samples = [numpy.asarray(on_host[i]) for i in range(min(len(shapes), most_shown()))]
    return html_of_batch(
        type(batch).__name__, samples, shapes, _type_name(batch) if shapes else "", batch.layout()
    )


def _type_name(described: Described[Any]) -> str:
    return str(described.dtype).rpartition(".")[2]


def different_shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    """Name a few shapes, and how many there are."""
    different = list(dict.fromkeys(shapes))
    if len(different) == 1:
        return f"{len(shapes)} x {different[0]}"
    text = ", ".join(str(shape) for shape in different[:4])
    return text + (f" and {len(different) - 4} other shapes" if len(different) > 4 else "")


def _joined(name: str, parts: list[str]) -> str:
    return f"{name}(\n{_INDENT}" + f",\n{_INDENT}".join(parts) + ")"


def _kind(value: Described[object]) -> list[str]:
    layout = [f'layout="{value.layout()}"'] if value.layout() else []
    device = "gpu" if type(value).__name__.endswith("GPU") else "cpu"
    return [f"dtype={value.dtype}", *layout, f'device="{device}"']


def _elements(tensor: ArrayLike) -> str:
    import numpy

    return numpy.array2string(
        numpy.asarray(tensor), threshold=_MAX_ELEMENTS, edgeitems=_EDGE, prefix=_INDENT
    )


def _samples(batch: Any) -> str:
    import math

    count = len(batch)
    num_elements = sum(math.prod(shape) for shape in batch.shape())
    shortened = num_elements > _MAX_ELEMENTS and count > 2 * _EDGE + 1
    chosen = [*range(_EDGE), *range(count - _EDGE, count)] if shortened else range(count)
    texts = [_elements(batch[index]) for index in chosen]
    if shortened:
        texts.insert(_EDGE, "...")
    lines = batch.ndim()
    return "[" + ("," + ("\n" * lines + _INDENT if lines else " ")).join(texts) + "]"


def _shapes(shapes: list[tuple[int, ...]]) -> str:
    texts = [str(shape) for shape in shapes]
    if len(texts) > _MAX_SHAPES:
        texts[_EDGE:-_EDGE] = ["..."]
    line = f"[{', '.join(texts)}]"
    if len(line) <= _MAX_WIDTH:
        return line
    return "[" + f",\n{_INDENT}{' ' * len('shape=[')}".join(texts) + "]"
