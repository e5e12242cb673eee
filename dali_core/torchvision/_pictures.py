"""Images on their way through transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dali_core import dynamic as dd
from dali_core import types
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.dynamic._tensors import Tensor, make_tensor
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.torchvision._frameworks import is_pillow, is_torch, pillow, torch

_MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}
_DTYPES = {
    "uint8": types.UINT8,
    "int8": types.INT8,
    "int16": types.INT16,
    "uint16": types.UINT16,
    "int32": types.INT32,
    "uint32": types.UINT32,
    "int64": types.INT64,
    "uint64": types.UINT64,
    "float16": types.FLOAT16,
    "float32": types.FLOAT,
    "float64": types.FLOAT64,
    "bool": types.BOOL,
}


class Picture:
    """An image whose pixels are computed when they are needed.

    Attributes
    ----------
    kind : str
        ``"pillow"``, ``"tensor"`` or ``"array"``: what the program sees, and the rules of pixels
        that hold, where torchvision has one for images of Pillow and another one for tensors.
    height, width, channels : int
        Extents.
    dtype : str
        Type of the numbers, such as ``"uint8"``.
    mode : str
        The mode, of an image of Pillow.
    """

    __slots__ = (
        "_layout",
        "_original",
        "_scale",
        "_value",
        "channels",
        "dtype",
        "height",
        "is_flat",
        "kind",
        "mode",
        "width",
    )

    def __init__(
        self,
        value: Tensor | None,
        layout: str,
        kind: str,
        size: tuple[int, int],
        channels: int,
        dtype: str = "uint8",
        mode: str = "",
    ) -> None:
        self._value = value
        self._layout = layout
        self._scale = 1.0
        self._original: Any = None
        self.is_flat = False
        self.kind = kind
        self.height, self.width = size
        self.channels = channels
        self.dtype = dtype
        self.mode = mode

    @property
    def is_float(self) -> bool:
        """Whether numbers are floating point."""
        return self.dtype.startswith("float")

    @property
    def type_id(self) -> types.DALIDataType:
        """Type of the numbers."""
        return _DTYPES[self.dtype]

    @property
    def bound(self) -> float:
        """The number that stands for full brightness."""
        return 1.0 if self.is_float else float(np.iinfo(self.dtype).max)

    @property
    def _pixels(self) -> Tensor:
        """Pixels, before a factor that is still to be applied."""
        if self._value is None:
            array = np.asarray(self._original)
            self._value = _shared(array if array.ndim == 3 else array[..., None], "HWC")
        return self._value

    @property
    def value(self) -> Tensor:
        """Pixels in the layout that they have, ``HWC`` or ``CHW``."""
        if self._scale != 1.0:
            self._value = dd.crop_mirror_normalize(
                self._pixels, mean=[0.0], std=[1 / self._scale], output_layout="CHW"
            )
            self._layout, self._scale = "CHW", 1.0
        return self._pixels

    @property
    def hwc(self) -> Tensor:
        """Pixels with the channels last."""
        value = self.value
        return value if self._layout == "HWC" else self._transposed("HWC", [1, 2, 0])

    @property
    def chw(self) -> Tensor:
        """Pixels with the channels first."""
        value = self.value
        return value if self._layout == "CHW" else self._transposed("CHW", [2, 0, 1])

    def _transposed(self, layout: str, order: Sequence[int]) -> Tensor:
        found: Tensor = dd.transpose(self.value, perm=order, output_layout=layout)
        self._value, self._layout = found, layout
        return found

    def unscaled(self) -> tuple[Tensor, float]:
        """Return pixels in the layout that they have, and a factor that is still to be applied."""
        return self._pixels, self._scale

    def with_value(
        self,
        value: Tensor,
        layout: str = "",
        size: tuple[int, int] | None = None,
        channels: int = 0,
        dtype: str = "",
    ) -> Picture:
        """Return an image of the same kind with other pixels.

        Parameters
        ----------
        value : Tensor
            Its pixels.
        layout : str
            Their layout, by default the same.
        size : (int, int), optional
            Height and width, by default the same.
        channels : int
            Number of channels, by default the same.
        dtype : str
            Type of the numbers, by default the same.
        """
        made = Picture(
            value,
            layout or self._layout,
            self.kind,
            size or (self.height, self.width),
            channels or self.channels,
            dtype or self.dtype,
            self.mode,
        )
        made.is_flat = self.is_flat and made.channels == 1
        if self.kind == "pillow" and channels:
            made.mode = {1: "L", 3: "RGB"}[channels]
        return made

    def with_kind(self, kind: str) -> Picture:
        """Return the same image as one of another kind."""
        if kind == self.kind:
            return self
        made = self.with_value(self._pixels)
        made._scale = self._scale
        made.kind, made.is_flat = kind, False
        made.mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}.get(self.channels, "")
        return made

    def scaled(self, factor: float) -> Picture:
        """Return an image of float32, which is this one of integers times a factor."""
        made = self.with_value(self._pixels, dtype="float32")
        made._scale = factor
        return made

    def settled(self) -> Picture:
        """Compute the pixels now, so that what follows is planned apart from what was before.

        Plans are kept by the order of operators: one that is random would make very many.
        """
        if self._value is not None:
            self.value.evaluate()
        return self

    def array(self) -> Any:
        """Return the pixels as an array ``HWC`` that may be shared and must not be changed."""
        return np.asarray(self.hwc)

    def finish(self) -> Any:
        """Return the image as the program sees it: one of Pillow, a tensor CHW, or an array HWC."""
        if self._original is not None:
            return self._original
        if self.kind == "tensor":
            return self.chw.torch()
        found = self.array()
        if self.kind == "array":
            return found[..., 0] if self.is_flat else found
        return pillow().fromarray(found[..., 0] if self.mode == "L" else found, self.mode)

    def by_pillow(self, function: Callable[[Any], Any]) -> Picture:
        """Have Pillow compute an image of 8 bits, and return that with the same kind."""
        image = self.with_kind("pillow").finish()
        return of_pillow(function(image)).with_kind(self.kind)

    def by_array(self, function: Callable[[Any], Any]) -> Picture:
        """Have NumPy compute the pixels: a function of an array HWC."""
        return self.with_value(_shared(function(self.array()), "HWC"), "HWC")

    def by_torch(self, function: Callable[[Any], Any]) -> Picture:
        """Have PyTorch compute the pixels: a function of a tensor CHW."""
        made = of_torch(function(self.chw.torch()))
        return made.with_kind(self.kind)


def _shared(array: Any, layout: str) -> Tensor:
    """Make a tensor over the memory of an array, also if it is read-only: it is only read."""
    array = np.ascontiguousarray(array)
    return make_tensor(TensorListCPU.broadcast(TensorCPU(array, layout), 1))


def of_pillow(image: Any) -> Picture:
    """Make a picture of an image of Pillow.

    Raises
    ------
    ArgumentValueError
        If its mode is none of L, LA, RGB, RGBA and CMYK.
    """
    if image.mode not in _MODES:
        raise ArgumentValueError(
            f"torchvision: images of Pillow must have one of the modes {', '.join(_MODES)} (got "
            f"{image.mode!r}). Use image.convert('RGB')."
        )
    channels = _MODES[image.mode]
    size = (image.height, image.width)
    # Its pixels are copied when an operator needs them: the next one may be of Pillow, too.
    return _kept(Picture(None, "HWC", "pillow", size, channels, mode=image.mode), image)


def of_torch(tensor: Any) -> Picture:
    """Make a picture of a tensor CHW.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it has another number of dimensions, is on a device, needs a gradient, or has a type that
        images have not.
    """
    if tensor.ndim != 3:
        raise ArgumentValueError(
            f"torchvision: tensors must be images CHW or batches NCHW (got shape "
            f"{tuple(tensor.shape)}). Use unsqueeze or reshape."
        )
    if tensor.device.type != "cpu" or tensor.requires_grad:
        raise ArgumentValueError(
            "torchvision: tensors must be on the host and need no gradient (got one on "
            f"{tensor.device}). Use tensor.detach().cpu()."
        )
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in _DTYPES:
        raise ArgumentTypeError(
            f"torchvision: images must be of integers, or of floating point in 16, 32 or 64 bits "
            f"(got {tensor.dtype}). Use tensor.float()."
        )
    channels, height, width = tensor.shape
    moved = tensor.permute(1, 2, 0)
    is_last = moved.is_contiguous() and not tensor.is_contiguous()
    array = (moved if is_last else tensor.contiguous()).numpy()
    layout = "HWC" if is_last else "CHW"
    value = _shared(array, layout)
    return _kept(Picture(value, layout, "tensor", (height, width), channels, dtype), tensor)


def of_array(array: Any) -> Picture:
    """Make a picture of an array HWC or HW.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it has another number of dimensions, or a type that images have not.
    """
    if array.ndim not in (2, 3):
        raise ArgumentValueError(
            f"torchvision: arrays must be images HWC or HW, or batches NHWC (got shape "
            f"{array.shape}). Reshape it."
        )
    if array.dtype.name not in _DTYPES:
        raise ArgumentTypeError(
            f"torchvision: images must be of integers or floating point (got {array.dtype}). "
            "Convert the array."
        )
    whole = array if array.ndim == 3 else array[..., None]
    if not whole.dtype.isnative:
        whole = whole.astype(whole.dtype.newbyteorder("="))
    height, width, channels = whole.shape
    made = Picture(
        _shared(whole, "HWC"), "HWC", "array", (height, width), channels, array.dtype.name
    )
    made.is_flat = array.ndim == 2
    return _kept(made, array)


def _kept(made: Picture, original: Any) -> Picture:
    if not (made.height and made.width and made.channels):
        raise ArgumentValueError(
            f"torchvision: images must have pixels (got {made.height} x {made.width} with "
            f"{made.channels} channels). Leave it out."
        )
    made._original = original
    return made


def of(image: Any, what: str, arrays: bool = True) -> Picture:
    """Make a picture of an image of the program.

    Parameters
    ----------
    image : PIL.Image.Image, torch.Tensor or numpy.ndarray
        The image.
    what : str
        How messages call the transform.
    arrays : bool
        Whether it may be an array.

    Raises
    ------
    ArgumentTypeError
        If it is none of these.
    """
    if is_pillow(image):
        return of_pillow(image)
    if is_torch(image):
        return of_torch(image)
    if arrays and isinstance(image, np.ndarray):
        return of_array(image)
    raise ArgumentTypeError(
        f"torchvision.{what}: the image must be one of Pillow, or a tensor CHW"
        f"{', or an array HWC' if arrays else ''} (got a {type(image).__name__}). Convert it."
    )


def number(value: float) -> Tensor:
    """Return a number that does not take part in plans: another one needs no other plan."""
    return dd.as_tensor(np.float32(value))


def numbers(values: Any) -> Tensor:
    """Return numbers that do not take part in plans."""
    return dd.as_tensor(np.array(values, np.float32))


def integers(*values: int) -> Tensor:
    """Return integers that do not take part in plans."""
    return dd.as_tensor(np.array(values, np.int32))


def as_dtype(dtype: Any, what: str) -> str:
    """Return the name of a type of PyTorch.

    Raises
    ------
    ArgumentTypeError
        If images have no such type.
    """
    name = str(dtype).removeprefix("torch.")
    if type(dtype).__module__ != "torch" or name not in _DTYPES:
        raise ArgumentTypeError(
            f"torchvision.{what}: dtype must be a type of PyTorch for integers, or floating point "
            f"in 16, 32 or 64 bits (got {dtype!r:.60}). Pass, for example, torch.float32."
        )
    return name


__all__ = ["Picture", "as_dtype", "integers", "number", "numbers", "of", "torch"]
