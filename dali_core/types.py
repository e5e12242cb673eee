"""Enumerations and small value types of the public API.

Names and numbers follow the reference API, so that programs and serialised pipelines carry over.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

CPU_ONLY_DEVICE_ID = -99999
"""`Pipeline.device_id` of a pipeline that uses no GPU."""


class _NumberedEnum(enum.Enum):
    """An enumeration whose members convert to their number but do not equal it."""

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __str__ = __repr__


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


class TensorLayout(str):
    """A tensor's layout: one letter a dimension, such as ``"HWC"``."""


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

    __slots__ = ("epoch_idx", "idx_in_batch", "idx_in_epoch", "iteration")

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

    __slots__ = ("epoch_idx", "iteration")

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
_FROM_NUMPY_NAMES = {name: data_type for data_type, name in _NUMPY_NAMES.items()}


def to_numpy_type(dali_type: DALIDataType) -> type[numpy.generic]:
    """Give the NumPy scalar type of a data type.

    Raises
    ------
    TypeError
        If NumPy has no such type.
    """
    import numpy

    if dali_type not in _NUMPY_NAMES:
        raise TypeError(
            f"to_numpy_type: dali_type must be a type of numbers (got {dali_type!r}). "
            f"Use one of {', '.join(data_type.name for data_type in _NUMPY_NAMES)}."
        )
    return numpy.dtype(_NUMPY_NAMES[dali_type]).type


def to_dali_type(framework_type: Any) -> DALIDataType:
    """Give the data type of a NumPy, PyTorch or JAX dtype, or of its name.

    Raises
    ------
    TypeError
        If there is no equal data type.
    """
    name = str(getattr(framework_type, "name", None) or getattr(framework_type, "__name__", ""))
    if not name:
        name = str(framework_type).rpartition(".")[2]
    name = {"float": "float32", "int": "int32"}.get(name, name).rstrip("_")
    if name not in _FROM_NUMPY_NAMES:
        raise TypeError(
            f"to_dali_type: framework_type must be a type of numbers (got {framework_type!r}). "
            f"Use one of {', '.join(_FROM_NUMPY_NAMES)}."
        )
    return _FROM_NUMPY_NAMES[name]
