"""Enumerations and small value types of the public API.

Names and numbers follow the reference API, so that programs and serialised pipelines carry over.
"""

from __future__ import annotations

import enum
import warnings
from typing import TYPE_CHECKING, Any

from dali_core.errors import (
    ArgumentFormError,
    ArgumentKeyError,
    ArgumentTypeError,
    ArgumentValueError,
)

if TYPE_CHECKING:
    import numpy

CPU_ONLY_DEVICE_ID = -99999
"""`Pipeline.device_id` of a pipeline that uses no GPU."""


_MAX_DIMENSIONS = 8


class _NumberedEnum(enum.Enum):
    """An enumeration whose members convert to their number, and equal it.

    They equal no member of another enumeration, whatever the numbers.
    """

    @classmethod
    def _missing_(cls, value: object) -> None:
        if not isinstance(value, int):
            raise ArgumentFormError(
                f"{cls.__name__}: must be made of a number (got {value!r}, a "
                f"{type(value).__name__}). Use {cls.__name__}[name] for a name."
            )

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == other) if isinstance(other, int) else self is other

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class DALIDataType(_NumberedEnum):
    """Type of the elements of a tensor, or of an operator's argument."""

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    FEATURE = 17
    IMAGE_TYPE = 20
    DATA_TYPE = 21
    INTERP_TYPE = 22
    TENSOR_LAYOUT = 23
    PYTHON_OBJECT = 24

    def __call__(self) -> str:
        """Give the type as `struct` and `memoryview` write it, such as ``"=f"``; deprecated.

        Programs from the time when `dtype` of a tensor was a method still call it.
        """
        import numpy

        warnings.warn(
            "dtype(): a tensor's dtype is a property. Leave out the parentheses.",
            DeprecationWarning,
            stacklevel=2,
        )
        # `struct` has l and L for what may be of 32 bits.
        return "=" + numpy.dtype(to_numpy_type(self)).char.translate({ord("l"): "q", ord("L"): "Q"})


class DALIInterpType(_NumberedEnum):
    """Filter used to resample an image."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


class DALIImageType(_NumberedEnum):
    """Colour model and order of the channels of a decoded image."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class PipelineAPIType(enum.Enum):
    """Which group of run methods a pipeline is driven with."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


class OperatorConcurrency(enum.Enum):
    """Which operators a pipeline may run at once. On the host this is without effect.

    All operators run in parallel anyway, each on other samples. The numbers are those of the
    reference.
    """

    UNSPECIFIED = 0
    NONE = 2
    BACKEND = 4
    FULL = 6


class StreamPolicy(enum.Enum):
    """How operators share CUDA streams. On the host this is without effect.

    The numbers are those of the reference.
    """

    UNSPECIFIED = 0
    SINGLE = 16
    PER_BACKEND = 32
    PER_OPERATOR = 48


NO_TYPE = DALIDataType.NO_TYPE
UINT8 = DALIDataType.UINT8
UINT16 = DALIDataType.UINT16
UINT32 = DALIDataType.UINT32
UINT64 = DALIDataType.UINT64
INT8 = DALIDataType.INT8
INT16 = DALIDataType.INT16
INT32 = DALIDataType.INT32
INT64 = DALIDataType.INT64
FLOAT16 = DALIDataType.FLOAT16
FLOAT = DALIDataType.FLOAT
FLOAT64 = DALIDataType.FLOAT64
BOOL = DALIDataType.BOOL
STRING = DALIDataType.STRING
FEATURE = DALIDataType.FEATURE
IMAGE_TYPE = DALIDataType.IMAGE_TYPE
DATA_TYPE = DALIDataType.DATA_TYPE
INTERP_TYPE = DALIDataType.INTERP_TYPE
TENSOR_LAYOUT = DALIDataType.TENSOR_LAYOUT
PYTHON_OBJECT = DALIDataType.PYTHON_OBJECT

INTERP_NN = DALIInterpType.INTERP_NN
INTERP_LINEAR = DALIInterpType.INTERP_LINEAR
INTERP_CUBIC = DALIInterpType.INTERP_CUBIC
INTERP_LANCZOS3 = DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR = DALIInterpType.INTERP_TRIANGULAR
INTERP_GAUSSIAN = DALIInterpType.INTERP_GAUSSIAN

RGB = DALIImageType.RGB
BGR = DALIImageType.BGR
GRAY = DALIImageType.GRAY
YCbCr = DALIImageType.YCbCr
ANY_DATA = DALIImageType.ANY_DATA

NCHW = "CHW"
NHWC = "HWC"
NFCHW = "FCHW"
NFHWC = "FHWC"
SAME = ""
"""Layout of an output that has the layout of its input."""


class TensorLayout(str):
    """A tensor's layout: one letter a dimension, such as ``"HWC"``.

    Operators know ``H`` (height), ``W`` (width), ``C`` (channels), ``F`` (frames) and ``D``
    (depth); other letters are allowed. It is a string, and can be used wherever one is asked for.

    Parameters
    ----------
    layout : str
        At most eight ASCII characters; empty for none.
    """

    __slots__ = ()

    def __new__(cls, layout: str) -> TensorLayout:
        """Check the letters."""
        if not isinstance(layout, str):
            raise ArgumentTypeError(
                f"TensorLayout: layout must be a string (got {layout!r}, a "
                f"{type(layout).__name__}). Write one letter for each dimension, such as 'HWC'."
            )
        if len(layout) > _MAX_DIMENSIONS or not layout.isascii() or "\0" in layout:
            raise ArgumentValueError(
                f"TensorLayout: layout must have at most {_MAX_DIMENSIONS} ASCII characters (got "
                f"{str(layout)!r}). Write one letter for each dimension, such as 'HWC'."
            )
        return super().__new__(cls, layout)

    def __repr__(self) -> str:
        return f"TensorLayout({super().__repr__()})"


class CUDAStream:
    """A CUDA stream by its handle, wherever a stream is asked for.

    Parameters
    ----------
    ptr : int
        The handle; 0 is the default stream.
    """

    def __init__(self, ptr: int = 0) -> None:
        self._ptr = ptr

    @property
    def ptr(self) -> int:
        """The handle."""
        return self._ptr

    def __cuda_stream__(self) -> tuple[int, int]:
        """Give the version of this protocol, and the handle."""
        return 0, self._ptr


class SampleInfo:
    """Which sample is requested from an `external_source` callback.

    Attributes
    ----------
    idx_in_epoch, idx_in_batch : int
        Index of the sample in the epoch and in its batch.
    iteration : int
        Number of the batch in the epoch.
    epoch_idx : int
        Number of the epoch.
    """

    def __init__(
        self, idx_in_epoch: int, idx_in_batch: int, iteration: int, epoch_idx: int
    ) -> None:
        self.idx_in_epoch = idx_in_epoch
        self.idx_in_batch = idx_in_batch
        self.iteration = iteration
        self.epoch_idx = epoch_idx

    def __repr__(self) -> str:
        return (
            f"SampleInfo(idx_in_epoch={self.idx_in_epoch}, idx_in_batch={self.idx_in_batch}, "
            f"iteration={self.iteration}, epoch_idx={self.epoch_idx})"
        )


class BatchInfo:
    """Which batch is requested from an `external_source` callback.

    Attributes
    ----------
    iteration : int
        Number of the batch in the epoch.
    epoch_idx : int
        Number of the epoch.
    """

    def __init__(self, iteration: int, epoch_idx: int) -> None:
        self.iteration = iteration
        self.epoch_idx = epoch_idx

    def __repr__(self) -> str:
        return f"BatchInfo(iteration={self.iteration}, epoch_idx={self.epoch_idx})"


_NUMPY_NAMES = {
    UINT8: "uint8",
    UINT16: "uint16",
    UINT32: "uint32",
    UINT64: "uint64",
    INT8: "int8",
    INT16: "int16",
    INT32: "int32",
    INT64: "int64",
    FLOAT16: "float16",
    FLOAT: "float32",
    FLOAT64: "float64",
    BOOL: "bool",
}
_FROM_NAMES = {
    **{name: data_type for data_type, name in _NUMPY_NAMES.items()},
    "half": FLOAT16,
    "float": FLOAT,
    "double": FLOAT64,
    "int": INT32,
    "long": INT64,
}


def to_numpy_type(dali_type: DALIDataType) -> type[numpy.generic]:
    """Give the NumPy scalar type of a data type.

    Raises
    ------
    ArgumentKeyError
        If NumPy has no such type.
    """
    import numpy

    if dali_type not in _NUMPY_NAMES:
        raise ArgumentKeyError(
            f"to_numpy_type: dali_type must be a type of numbers (got {dali_type}). "
            f"Use one of {', '.join(data_type.name for data_type in _NUMPY_NAMES)}."
        )
    return numpy.dtype(_NUMPY_NAMES[dali_type]).type


def to_dali_type(framework_type: Any) -> DALIDataType:
    """Give the data type of a dtype of NumPy, PyTorch or JAX, of a type of Python, or of a name.

    Parameters
    ----------
    framework_type : object
        Such as `numpy.float32`, ``numpy.dtype("float32")``, `torch.float32`, `jax.numpy.float32`,
        `float` or ``"float32"``. Python's `int` and `float` have 32 bits here, as in expressions.

    Raises
    ------
    ArgumentTypeError
        If there is no equal data type.
    """
    import numpy

    if isinstance(framework_type, type) and issubclass(framework_type, numpy.generic):
        framework_type = numpy.dtype(framework_type)
    name = str(getattr(framework_type, "name", None) or getattr(framework_type, "__name__", ""))
    if not name:
        name = str(framework_type).rpartition(".")[2]
    name = name.removesuffix("_")
    if name not in _FROM_NAMES:
        raise ArgumentTypeError(
            f"to_dali_type: framework_type must be a type of numbers (got {framework_type!r}). "
            f"Use one of {', '.join(_NUMPY_NAMES.values())}."
        )
    return _FROM_NAMES[name]


# Constants need the types above; as part of this module they have the reference's names.
from dali_core._constants import Constant as Constant  # noqa: E402
from dali_core._constants import ConstantNode as ConstantNode  # noqa: E402
from dali_core._constants import ScalarConstant as ScalarConstant  # noqa: E402
