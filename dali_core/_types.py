"""Enumerations and small value types; `types` has them, and constants of pipelines.

Names and numbers follow the reference API, so that programs and serialised pipelines carry over.
"""

from __future__ import annotations

import enum

from dali_core._data_types import DALIDataType as DALIDataType
from dali_core._data_types import NumberedEnum as _NumberedEnum
from dali_core._data_types import to_dali_type as to_dali_type
from dali_core._data_types import to_numpy_type as to_numpy_type
from dali_core.errors import ArgumentTypeError, ArgumentValueError

CPU_ONLY_DEVICE_ID = -99999
"""`Pipeline.device_id` of a pipeline that uses no GPU."""


_MAX_DIMENSIONS = 8


class DALIInterpType(_NumberedEnum):
    """Filter used to resample an image."""

    __module__ = "dali_core.types"

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


class DALIImageType(_NumberedEnum):
    """Colour model and order of the channels of a decoded image."""

    __module__ = "dali_core.types"

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class PipelineAPIType(enum.Enum):
    """Which group of run methods a pipeline is driven with."""

    __module__ = "dali_core.types"

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


class OperatorConcurrency(enum.Enum):
    """Which operators a pipeline may run at once. On the host this is without effect.

    All operators run in parallel anyway, each on other samples. The numbers are those of the
    reference.
    """

    __module__ = "dali_core.types"

    UNSPECIFIED = 0
    NONE = 2
    BACKEND = 4
    FULL = 6


class StreamPolicy(enum.Enum):
    """How operators share CUDA streams. On the host this is without effect.

    The numbers are those of the reference.
    """

    __module__ = "dali_core.types"

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

    __module__ = "dali_core.types"

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

    __module__ = "dali_core.types"

    def __init__(self, ptr: int = 0) -> None:
        self._ptr = ptr

    @property
    def ptr(self) -> int:
        """The handle."""
        return self._ptr

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of this protocol, and the handle."""
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

    __module__ = "dali_core.types"

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

    __module__ = "dali_core.types"

    def __init__(self, iteration: int, epoch_idx: int) -> None:
        self.iteration = iteration
        self.epoch_idx = epoch_idx

    def __repr__(self) -> str:
        return f"BatchInfo(iteration={self.iteration}, epoch_idx={self.epoch_idx})"
