"""Tensors and batches as text, as the reference writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dali_core._runtime.tensor import TensorCPU
    from dali_core._runtime.tensor_gpu import TensorGPU
    from dali_core._runtime.tensor_list import TensorListCPU
    from dali_core._runtime.tensor_list_gpu import TensorListGPU

_INDENT = " " * 4
_EDGE = 2  # how many entries stay at either end of what is too long
_MAX_ELEMENTS = 1000
_MAX_SHAPES = 16
_MAX_WIDTH = 80


def text_of_tensor(tensor: TensorCPU | TensorGPU, with_data: bool) -> str:
    """Describe a tensor, with its elements or without."""
    parts = [_elements(tensor.as_cpu())] if with_data else []
    parts += [*_kind(tensor), f"shape={tuple(tensor.shape())}"]
    return _joined(type(tensor).__name__, parts)


def text_of_list(batch: TensorListCPU | TensorListGPU, with_data: bool) -> str:
    """Describe a batch, with the elements of its samples or without."""
    parts = [_samples(batch.as_cpu())] if with_data else []
    parts += [*_kind(batch), f"num_samples={len(batch)}", f"shape={_shapes(batch.shape())}"]
    return _joined(type(batch).__name__, parts)


def different_shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    """Name a few shapes, and how many there are."""
    different = list(dict.fromkeys(shapes))
    if len(different) == 1:
        return f"{len(shapes)} x {different[0]}"
    text = ", ".join(str(shape) for shape in different[:4])
    return text + (f" and {len(different) - 4} other shapes" if len(different) > 4 else "")


def _joined(name: str, parts: list[str]) -> str:
    return f"{name}(\n{_INDENT}" + f",\n{_INDENT}".join(parts) + ")"


def _kind(value: TensorCPU | TensorGPU | TensorListCPU | TensorListGPU) -> list[str]:
    layout = [f'layout="{value.layout()}"'] if value.layout() else []
    device = "gpu" if type(value).__name__.endswith("GPU") else "cpu"
    return [f"dtype={value.dtype}", *layout, f'device="{device}"']


def _elements(tensor: TensorCPU) -> str:
    import numpy

    return numpy.array2string(
        numpy.asarray(tensor), threshold=_MAX_ELEMENTS, edgeitems=_EDGE, prefix=_INDENT
    )


def _samples(batch: TensorListCPU) -> str:
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
