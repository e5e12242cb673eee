"""The outcome of a batch that is done, before it counts as taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dali_core._execution.bad_samples import LogChange

if TYPE_CHECKING:
    from dali_core._runtime.tensor_list import TensorListCPU
    from dali_core._runtime.tensor_list_gpu import TensorListGPU


class Outcome(NamedTuple):
    """The outputs of a batch or its error, and the change of the record of bad samples."""

    outputs: tuple[TensorListCPU | TensorListGPU, ...]
    error: BaseException | None
    change: LogChange | None = None
